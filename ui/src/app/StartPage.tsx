import { Button, Code, CopyButton, Group, Loader, Paper, Stack, Text, Title } from "@mantine/core";
import { IconCheck, IconCopy, IconFileImport } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { chooseFile } from "../widgets/importing/chosenFile";

/** Lines that work against this very server, as it was reached. */
function lines(origin: string): { words: string; line: string }[] {
  return [
    {
      words: "Log one event",
      line: `curl ${origin}/v1/log/hello -d '{"message": "first light", "depth_m": 10935, "ok": true}'`,
    },
    {
      words: "Log what a program prints, as it prints it",
      line: `ping -c 30 localhost | hadal log pings --server ${origin}`,
    },
    {
      words: "Bring a file: JSON lines, CSV, Parquet, plain text",
      line: `hadal import events.jsonl --table events --server ${origin}`,
    },
  ];
}

/** With no table yet: three lines to copy. The page turns to the first table by itself. */
export function StartPage({ logo, tools }: { logo: ReactNode; tools: ReactNode }) {
  return (
    <Stack maw={760} mx="auto" p="md" gap="xl" className="start">
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
      {lines(window.location.origin).map(({ words, line }) => (
        <Paper key={words} withBorder p="md">
          <Group justify="space-between" mb={6}>
            <Text size="sm" fw={600}>
              {words}
            </Text>
            <CopyButton value={line}>
              {({ copied, copy }) => (
                <Button
                  size="compact-xs"
                  variant="default"
                  leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                  onClick={copy}
                >
                  {copied ? "Copied" : "Copy"}
                </Button>
              )}
            </CopyButton>
          </Group>
          <Code block className="wrap" data-testid="line">
            {line}
          </Code>
        </Paper>
      ))}
      <Group gap="sm">
        <Button leftSection={<IconFileImport size={16} />} onClick={chooseFile}>
          Choose a file
        </Button>
        <Text c="dimmed" size="sm">
          or drop one here: you see how it is read before anything is stored
        </Text>
      </Group>
      <Group gap="xs" c="dimmed">
        <Loader size={14} />
        <Text size="sm">Waiting for the first row …</Text>
      </Group>
    </Stack>
  );
}
