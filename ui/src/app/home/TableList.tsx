import { Anchor, Table as Grid, Text, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import type { MouseEvent } from "react";
import { serverNow } from "../../api/client";
import type { Table } from "../../api/types";
import { bytes, counted, percent, short, visible } from "../../base/format";
import { timeText, type Zone } from "../../base/zone";
import { ProblemMark } from "../../widgets/pickers/ProblemMark";
import type { TableProblems } from "../../widgets/pickers/tableProblems";
import { ageWords } from "../../widgets/time/timeWords";
import { RateCell } from "./RateCell";
import { nextSort, retentionWords, type Sort, type SortKey } from "./tableOrder";

/** Lines that are drawn at most: what is searched for is among them sooner than scrolled to. */
const SHOWN = 100;

/** Tables, one a line: how much they hold, what comes, and what is wrong with them. */
export function TableList(props: {
  tables: readonly Table[];
  problems: ReadonlyMap<string, TableProblems>;
  zone: Zone;
  sort: Sort;
  onSort: (sort: Sort) => void;
  onOpen: (name: string) => void;
}) {
  const { tables, problems, zone, sort, onSort, onOpen } = props;
  const head = (by: SortKey, label: string, right = false) => (
    <SortHead {...{ by, label, right, sort, onSort }} />
  );
  return (
    <>
      <Grid.ScrollContainer minWidth={320} type="native">
        <Grid className="numbers home-tables" fz="sm" verticalSpacing={6} highlightOnHover>
          <Grid.Thead>
            <Grid.Tr>
              {head("name", "Table")}
              <Grid.Th ta="right" title="Events by their own time, of the last hour">
                Last hour
              </Grid.Th>
              {head("newest", "Newest", true)}
              {head("rows", "Rows", true)}
              {head("bytes", "Size", true)}
              <Grid.Th className="wide-only">Kept for</Grid.Th>
            </Grid.Tr>
          </Grid.Thead>
          <Grid.Tbody>
            {tables.slice(0, SHOWN).map((table) => (
              <TableLine
                key={table.name}
                table={table}
                problems={problems.get(table.name)}
                zone={zone}
                onOpen={onOpen}
              />
            ))}
          </Grid.Tbody>
        </Grid>
      </Grid.ScrollContainer>
      {tables.length > SHOWN && (
        <Text size="xs" c="dimmed">
          {counted(tables.length - SHOWN, "more table")}: type a part of the name.
        </Text>
      )}
    </>
  );
}

function SortHead(props: {
  by: SortKey;
  label: string;
  right: boolean;
  sort: Sort;
  onSort: (sort: Sort) => void;
}) {
  const { by, label, right, sort, onSort } = props;
  const sorted = sort.by === by;
  const Icon = sort.ascending ? IconArrowUp : IconArrowDown;
  return (
    <Grid.Th
      ta={right ? "right" : "left"}
      aria-sort={sorted ? (sort.ascending ? "ascending" : "descending") : "none"}
    >
      <UnstyledButton fz="sm" fw={600} onClick={() => onSort(nextSort(sort, by))}>
        {label} {sorted && <Icon size={12} aria-hidden />}
      </UnstyledButton>
    </Grid.Th>
  );
}

/** Whether a click asks for another tab or window. */
const isElsewhere = (event: MouseEvent) =>
  event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;

function TableLine(props: {
  table: Table;
  problems: TableProblems | undefined;
  zone: Zone;
  onOpen: (name: string) => void;
}) {
  const { table, problems, zone, onOpen } = props;
  const open = (event: MouseEvent) => {
    if (isElsewhere(event)) return;
    event.preventDefault();
    onOpen(table.name);
  };
  const age = ageWords(table.last_time, serverNow());
  const newest = table.last_time === null ? "" : timeText(Date.parse(table.last_time), zone);
  const smaller =
    table.block_bytes > 0 ? `${short(table.raw_bytes / table.block_bytes)} × smaller than raw` : "";
  return (
    <Grid.Tr data-testid={`table-${table.name}`}>
      <Grid.Td className="home-name">
        <Anchor
          href={`?${new URLSearchParams({ table: table.name })}`}
          fw={600}
          fz="sm"
          className="clipped"
          title={table.name}
          onClick={open}
        >
          {visible(table.name)}
        </Anchor>
        {problems && <ProblemMark problems={problems} />}
        <StateWords table={table} />
      </Grid.Td>
      <Grid.Td ta="right">
        <RateCell table={table} />
      </Grid.Td>
      <Grid.Td ta="right" className="nowrap" title={newest}>
        <Text span fz="sm" c={age === "live" ? "var(--good)" : "dimmed"}>
          {age}
        </Text>
      </Grid.Td>
      <Grid.Td ta="right" className="nowrap" title={counted(table.rows, "row")}>
        {short(table.rows)}
      </Grid.Td>
      <Grid.Td ta="right" className="nowrap" title={smaller}>
        {bytes(table.block_bytes)}
      </Grid.Td>
      <Grid.Td className="nowrap wide-only" c="dimmed">
        {retentionWords(table)}
      </Grid.Td>
    </Grid.Tr>
  );
}

/** What is not as it should be with the rows that the table has, or had. */
function StateWords({ table }: { table: Table }) {
  const { rows, waiting_rows: waiting, lost_rows: lost, dropped_rows: dropped } = table;
  const words = [
    ...(waiting > 0
      ? [`restoring: ${percent(rows / (rows + waiting))} of the rows are there`]
      : []),
    ...(lost > 0 ? [`${counted(lost, "row")} lost`] : []),
    ...(dropped > 0 ? [`full: ${counted(dropped, "old row")} dropped`] : []),
  ];
  if (words.length === 0) return null;
  return (
    <Text size="xs" c={lost > 0 ? "var(--bad)" : "var(--warn)"}>
      {words.join("; ")}
    </Text>
  );
}
