import { Group, Loader, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { DropTile } from "./DropTile";
import { SendEvents } from "./SendEvents";

/** With no table yet: lines to copy. The page turns to the first table by itself. */
export function StartPage({ logo, tools }: { logo: ReactNode; tools: ReactNode }) {
  return (
    <Stack maw={820} mx="auto" p="md" gap="xl" className="start">
      <Group justify="space-between">
        {logo}
        {tools}
      </Group>
      <Stack gap={6} mt="xl">
        <Title order={1} fz={26}>
          Nothing is logged here yet
        </Title>
        <Text c="dimmed">
          Paste one of these lines into a terminal. There is nothing to define: tables and columns
          come with their first row.
        </Text>
      </Stack>
      <SendEvents />
      <DropTile />
      <Group gap="xs" c="dimmed">
        <Loader size={14} />
        <Text size="sm">Waiting for the first row …</Text>
      </Group>
    </Stack>
  );
}
