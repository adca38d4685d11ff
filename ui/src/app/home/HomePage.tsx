import { Group, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useRef, useState } from "react";
import type { Table } from "../../api/types";
import { bytes, counted, short } from "../../base/format";
import type { Zone } from "../../base/zone";
import { useTableProblems } from "../../widgets/pickers/tableProblems";
import { DropTile } from "./DropTile";
import { SendEvents } from "./SendEvents";
import { SAVED_LISTS } from "./savedLists";
import { TableList } from "./TableList";
import { isSystem, listed, type Sort } from "./tableOrder";

/** All tables, what people have saved, and how to send more. */
export function HomePage(props: {
  tables: readonly Table[];
  zone: Zone;
  onOpen: (name: string) => void;
}) {
  const { tables, zone, onOpen } = props;
  return (
    <Stack maw={1200} mx="auto" gap="xl" pb="xl" data-testid="home">
      <Tables tables={tables} zone={zone} onOpen={onOpen} />
      {SAVED_LISTS.map((List, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <List key={at} />
      ))}
      <section aria-label="Send events" className="home-send">
        <Stack gap="sm" miw={0}>
          <Title order={2} fz="md">
            Send events
          </Title>
          <SendEvents />
        </Stack>
        <DropTile />
      </section>
    </Stack>
  );
}

function Tables(props: { tables: readonly Table[]; zone: Zone; onOpen: (name: string) => void }) {
  const { tables, zone, onOpen } = props;
  const [text, setText] = useState("");
  const [sort, setSort] = useState<Sort>({ by: "rows", ascending: false });
  const problems = useTableProblems(tables);
  const search = useRef<HTMLInputElement>(null);
  useHotkeys([["/", () => search.current?.focus()]]);
  const users = tables.filter((table) => !isSystem(table));
  const shown = listed(users, text, sort);
  const system = listed(tables.filter(isSystem), text, sort);
  const list = { problems, zone, sort, onSort: setSort, onOpen };
  const [first] = shown;
  return (
    <section aria-label="Tables">
      <Group justify="space-between" mb="xs" gap="sm">
        <Group gap="sm" align="baseline">
          <Title order={1} fz="lg">
            Tables
          </Title>
          <Text size="sm" c="dimmed">
            {sumWords(users)}
          </Text>
        </Group>
        <TextInput
          ref={search}
          size="xs"
          w={240}
          placeholder="Find a table (/)"
          aria-label="Find a table"
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && first && onOpen(first.name)}
        />
      </Group>
      <Paper withBorder p="xs">
        {shown.length > 0 ? (
          <TableList tables={shown} {...list} />
        ) : (
          <Text size="sm" c="dimmed" p="sm">
            {users.length === 0
              ? "There is no table yet: it comes with its first row."
              : `No table is called like “${text.trim()}”.`}
          </Text>
        )}
        {system.length > 0 && (
          <details className="system-tables" open={text.trim().startsWith("_") || undefined}>
            <summary>Tables that Hadal keeps about itself ({system.length})</summary>
            <TableList tables={system} {...list} />
          </details>
        )}
      </Paper>
    </section>
  );
}

/** How much all tables hold together. */
function sumWords(tables: readonly Table[]): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const size = tables.reduce((sum, table) => sum + table.block_bytes, 0);
  return `${counted(tables.length, "table")} · ${short(rows)} rows · ${bytes(size)}`;
}
