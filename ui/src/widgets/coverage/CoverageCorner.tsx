import {
  Anchor,
  Badge,
  Group,
  Loader,
  Popover,
  Stack,
  Table,
  Text,
  VisuallyHidden,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { fetchLeaves, type Problem } from "../../api/client";
import type { Answer, Coverage, LeafStatus, Table as TableStatus } from "../../api/types";
import { bytes, count, micros, percent, short } from "../../base/format";
import { leafWords, type RowCounts, rowsWords } from "./coverage";

/** A leaf that is not alive is so for seconds. */
const AGAIN_MS = 1000;

/** The coverage of an answer: its rows, missing rows, and the time that it took. */
export function CoverageCorner(props: {
  answer: Answer;
  rowCounts: RowCounts;
  table: TableStatus;
  busy: boolean;
}) {
  const { answer, rowCounts, busy } = props;
  const { coverage, stats } = answer;
  const bound = coverage.fraction_is_upper_bound === true;
  const missing = coverage.fraction < 1 || bound;
  return (
    <Popover position="bottom-end" shadow="md" width={380} withArrow>
      <Popover.Target>
        <Anchor component="button" size="xs" c="dimmed" data-testid="coverage">
          <VisuallyHidden>Coverage of this answer: </VisuallyHidden>
          <Group gap={6} wrap="wrap" justify="flex-end">
            {busy && <Loader size={10} aria-label="Loading" />}
            <Text size="xs" span className="numbers">
              {rowsWords(rowCounts)} ·
            </Text>
            {missing && (
              <Badge tt="none" size="sm" variant="filled" color="orange.9">
                {bound && "at most "}
                {percent(coverage.fraction)} of rows
              </Badge>
            )}
            <Text size="xs" span className="numbers">
              {micros(stats.elapsed_micros)}
              {missing && ` · ${coverage.leaves_answered} of ${coverage.leaves_asked} leaves`}
            </Text>
          </Group>
        </Anchor>
      </Popover.Target>
      <Popover.Dropdown>
        <CoverageDetail {...props} />
      </Popover.Dropdown>
    </Popover>
  );
}

function CoverageDetail({
  answer,
  rowCounts,
  table,
}: {
  answer: Answer;
  rowCounts: RowCounts;
  table: TableStatus;
}) {
  const { coverage, stats } = answer;
  const lines: [string, string][] = [
    ["Rows behind the answer", count(rowCounts.samples)],
    ...(rowCounts.events === null
      ? []
      : [["Events they represent", count(rowCounts.events)] as [string, string]]),
    ["Rows of the table", count(coverage.rows_expected)],
    ["Rows scanned one by one", count(stats.rows_read)],
    ["Row blocks skipped", `${count(stats.blocks_skipped)} of ${count(stats.blocks)}`],
    ["Bytes read", bytes(stats.bytes_read)],
    ["Scanning, all cores", micros(stats.scan_micros)],
    ["Total time", micros(stats.elapsed_micros)],
  ];
  if (table.dropped_rows > 0)
    lines.push(["Deleted because the table is full", count(table.dropped_rows)]);
  if (table.lost_rows > 0) lines.push(["Lost: missing or damaged", count(table.lost_rows)]);
  if (coverage.fraction_is_upper_bound === true)
    lines.push(["More rows may be missing", "number unknown"]);
  if (table.waiting_rows > 0)
    lines.push([`Being restored after a restart (${table.state})`, count(table.waiting_rows)]);
  return (
    <Stack gap="sm">
      <Table verticalSpacing={2} fz="xs" className="numbers">
        <Table.Tbody>
          {lines.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <LeafTable coverage={coverage} />
    </Stack>
  );
}

function LeafTable({ coverage }: { coverage: Coverage }) {
  // Where they cannot be had there is still what became of the query.
  const { data: leaves = [] } = useQuery<LeafStatus[], Problem>({
    queryKey: ["leaves"],
    queryFn: ({ signal }) => fetchLeaves(signal),
    refetchInterval: AGAIN_MS,
  });
  const colour = (words: string) => (words === "answered" ? "var(--good)" : "var(--warn)");
  return (
    <Table verticalSpacing={2} fz="xs" className="numbers" captionSide="top">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Leaf</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th ta="right">Rows</Table.Th>
          <Table.Th ta="right">Time</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {coverage.leaves.map((leaf) => (
          <Table.Tr key={leaf.name}>
            <Table.Td>{leaf.name}</Table.Td>
            <Table.Td c={colour(leafWords(leaf, leaves))}>{leafWords(leaf, leaves)}</Table.Td>
            <Table.Td
              ta="right"
              title={`${count(leaf.rows_scanned)} of ${count(leaf.rows_expected)}`}
            >
              {short(leaf.rows_scanned)}
            </Table.Td>
            <Table.Td ta="right">{micros(leaf.micros)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
