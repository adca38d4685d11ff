import { Button, Center, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Table } from "../api/types";
import { TablePicker } from "../widgets/pickers/TablePicker";

/** Where a link names a table that is not, or not yet, there: the way to those that are. */
export function NoSuchTable(props: {
  name: string;
  tables: Table[];
  onOpen: (name: string) => void;
  logo: ReactNode;
  tools: ReactNode;
}) {
  const { name, tables, onOpen, logo, tools } = props;
  return (
    <>
      <Group h={52} px="md" wrap="nowrap">
        {logo}
        {tools}
      </Group>
      <Center mih="80vh" p="md">
        <Stack maw={520} w="100%">
          <Title order={2} fz="lg" className="wrap">
            There is no table {name.length > 80 ? `${name.slice(0, 80)}…` : name}
          </Title>
          <Text c="dimmed">
            It comes into being with its first row. {tables.length > 0 && "These tables are here:"}
          </Text>
          {tables.length > 0 && <TablePicker tables={tables} value="" onChange={onOpen} />}
          <Group gap="xs">
            {tables.slice(0, 20).map((table) => (
              <Button
                key={table.name}
                size="xs"
                variant="default"
                maw="100%"
                title={table.name}
                onClick={() => onOpen(table.name)}
              >
                {table.name}
              </Button>
            ))}
          </Group>
        </Stack>
      </Center>
    </>
  );
}
