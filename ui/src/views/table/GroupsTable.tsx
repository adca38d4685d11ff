import { Table, Text, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { Fragment, memo, useMemo } from "react";
import { numberOf } from "../../api/client";
import type { Answer } from "../../api/types";
import { count, counted } from "../../base/format";
import { cellText } from "../../explore/CellText";
import { isBeforeFirstRow } from "../../explore/compareRange";
import { type Explore, pointOf, useExplore } from "../../explore/context";
import { picksOf } from "../../query/edit";
import { isAdditive, type Measure, measureLabel } from "../../query/measure";
import { orderOf } from "../../query/spec";
import { type GroupRow, type GroupTable, groupTable, otherMeasures, type Totals } from "./groups";
import { MeasureCells } from "./MeasureCells";

/** Groups as rows, with a bar behind each number, and what they come to. */
export function GroupsTable({ answer, total }: { answer: Answer; total: Totals | null }) {
  const { query, resolved, columns, table, zone, identifiers, openMenu } = useExplore();
  const { group, measures, order, compare, limit } = query;
  const groups = useMemo(
    () => groupTable(answer, { group, measures, order, compare, limit }),
    [answer, group, measures, order, compare, limit],
  );
  const tops = useMemo(() => topsOf(groups, measures), [groups, measures]);
  const wholes = useMemo(() => wholesOf(groups, total, measures), [groups, total, measures]);
  const isComparable = !isBeforeFirstRow(resolved, table);
  const line = { groups, group, measures, columns, zone, identifiers, isComparable, openMenu };
  return (
    <>
      <Table.ScrollContainer minWidth={300} type="native">
        <Table className="groups numbers" fz={13} verticalSpacing={4} highlightOnHover stickyHeader>
          <Head groups={groups} />
          <Table.Tbody>
            {groups.rows.map((row) => (
              <GroupLine
                key={JSON.stringify(row.keys)}
                row={row}
                tops={tops}
                wholes={wholes}
                {...line}
              />
            ))}
            {total && <Sums groups={groups} total={total} isComparable={isComparable} />}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {groups.found >= query.limit && (
        <Text size="xs" c="dimmed" mt="xs">
          The first {count(groups.rows.length)}
          {groups.compared && !groups.partly && ` of ${count(groups.found)}`} groups are shown; the
          limit is in the sidebar.
        </Text>
      )}
      <SortNote groups={groups} />
    </>
  );
}

/** The largest number of each measure. */
const topsOf = (groups: GroupTable, measures: readonly Measure[]) =>
  measures.map((_, at) =>
    Math.max(0, ...groups.rows.map((row) => numberOf(row.measures[at] ?? null) ?? 0)),
  );

/** What each measure comes to over all groups; null where it does not add up. */
const wholesOf = (groups: GroupTable, total: Totals | null, measures: readonly Measure[]) =>
  measures.map((measure, at) =>
    !groups.compared && isAdditive(measure) ? numberOf(total?.now[at]) : null,
  );

/** What a table sorted by change leaves out or puts last. */
function SortNote({ groups }: { groups: GroupTable }) {
  const { query } = useExplore();
  if (!groups.compared || !orderOf(query).change) return null;
  return (
    <Text size="xs" c="dimmed" mt="xs" role="note">
      Groups with few rows come last.
      {groups.partly && ` Of more groups than can be compared, the ${count(groups.found)} largest.`}
    </Text>
  );
}

function Head({ groups }: { groups: GroupTable }) {
  const { query } = useExplore();
  return (
    <Table.Thead>
      <Table.Tr>
        {query.group.map((by, at) => (
          <SortHead key={by} by={by} label={groups.keyNames[at] ?? by} />
        ))}
        {query.measures.map((by) => (
          <Fragment key={by}>
            <SortHead by={by} label={measureLabel(by)} right />
            {groups.compared && <Table.Th ta="right">before</Table.Th>}
            {groups.compared && <SortHead by={`change ${by}`} label="change" right />}
          </Fragment>
        ))}
        {groups.sampled && <Table.Th ta="right">rows</Table.Th>}
      </Table.Tr>
    </Table.Thead>
  );
}

function SortHead(props: { by: string; label: string; right?: boolean }) {
  const { by, label, right = false } = props;
  const { query, commit } = useExplore();
  const order = orderOf(query);
  const sorted = (order.change ? `change ${order.by}` : order.by) === by;
  const Icon = order.ascending ? IconArrowUp : IconArrowDown;
  const next = sorted && !order.ascending ? `${by} asc` : by;
  return (
    <Table.Th
      ta={right ? "right" : "left"}
      className="cell"
      title={label}
      aria-sort={sorted ? (order.ascending ? "ascending" : "descending") : "none"}
    >
      <UnstyledButton
        fz={13}
        fw={600}
        className="clipped sort-head"
        ta={right ? "right" : "left"}
        onClick={() => commit({ ...query, order: next })}
      >
        {label} {sorted && <Icon size={12} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  );
}

interface LineProps extends Pick<Explore, "columns" | "zone" | "identifiers" | "openMenu"> {
  row: GroupRow;
  groups: GroupTable;
  tops: readonly number[];
  wholes: readonly (number | null)[];
  group: readonly string[];
  measures: readonly Measure[];
  isComparable: boolean;
}

/** One group. It is drawn again only when its numbers, or how they are shown, are others. */
const GroupLine = memo(function GroupLine(props: LineProps) {
  const { row, groups, tops, wholes, group, measures } = props;
  const { columns, zone, identifiers, isComparable, openMenu } = props;
  const picks = picksOf(group, row.keys, groups.keyTypes, columns);
  const texts = row.keys.map((key, at) =>
    cellText(key, groups.keyTypes[at] ?? "null", zone, identifiers.has(groups.keyNames[at] ?? "")),
  );
  const { few } = row;
  return (
    <Table.Tr
      className={few ? "few" : ""}
      title={few ? `Only ${counted(row.samples, "row")}` : undefined}
    >
      {texts.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is which group column it is
        <Table.Td key={at} className="cell">
          <UnstyledButton
            fz={13}
            className="value"
            title={text}
            onClick={(event) =>
              openMenu({ label: texts.join(" · "), picks, point: pointOf(event) })
            }
          >
            {text}
          </UnstyledButton>
        </Table.Td>
      ))}
      {row.measures.map((cell, at) => (
        <MeasureCells
          key={measures[at]}
          measure={measures[at] ?? ""}
          columns={columns}
          isComparable={isComparable}
          now={cell}
          before={row.before?.[at] ?? null}
          compared={groups.compared}
          top={tops[at] ?? 0}
          few={few}
          whole={wholes[at] ?? null}
        />
      ))}
      {groups.sampled && (
        <Table.Td ta="right" c="dimmed">
          {count(row.samples)}
        </Table.Td>
      )}
    </Table.Tr>
  );
});

/** The rows beneath: what the other groups hold, and all together. */
function Sums(props: { groups: GroupTable; total: Totals; isComparable: boolean }) {
  const { groups, total, isComparable } = props;
  const { query, columns } = useExplore();
  const cut = groups.found >= query.limit;
  const shown = groups.rows.map((row) => row.measures);
  const shownBefore = groups.rows.map((row) => row.before ?? []);
  const lines = [
    ...(cut
      ? [
          {
            name: "Other groups",
            now: otherMeasures(query, shown, total.now),
            before: otherMeasures(query, shownBefore, total.before ?? []),
          },
        ]
      : []),
    { name: "Total", now: total.now, before: total.before ?? [] },
  ];
  return lines.map(({ name, now, before }) => (
    <Table.Tr key={name} fw={600} className="sums">
      <Table.Td colSpan={query.group.length}>{name}</Table.Td>
      {query.measures.map((measure, at) => (
        <MeasureCells
          key={measure}
          measure={measure}
          columns={columns}
          isComparable={isComparable}
          now={now[at] ?? null}
          before={before[at] ?? null}
          compared={groups.compared}
          top={0}
        />
      ))}
      {groups.sampled && <Table.Td />}
    </Table.Tr>
  ));
}
