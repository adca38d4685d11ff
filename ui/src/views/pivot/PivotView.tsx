import { Stack, Table, Text, UnstyledButton, useComputedColorScheme } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { change, counted, exactly, SKETCH_STEP } from "../../base/format";
import { inUnit } from "../../base/units";
import { FEW } from "../../charts/marks";
import { pointOf, useExplore } from "../../explore/context";
import { isAdditive, isEstimated, measureLabel, measureUnit } from "../../query/measure";
import { orderOf } from "../../query/spec";
import { GroupsFrame } from "../shared/GroupsFrame";
import { type GroupRow, type Groups, sharesRows, type Value } from "../shared/groups";
import { useGroupMarks } from "../shared/useGroupMarks";
import { type Pivot, type PivotLine, pivotOf, sumOf } from "./pivot";

/** Two group columns as the sides of a table: one table for each measure. */
export default function PivotView({ spec }: { spec: QuerySpec }) {
  const { query } = useExplore();
  return (
    <GroupsFrame
      spec={spec}
      title={`${query.group.slice(0, -1).join(", ")} by ${query.group.at(-1)}`}
      height={400}
    >
      {(groups) => (
        <Stack gap="lg">
          {query.measures.map((measure, at) => (
            <PivotTable key={measure} groups={groups} at={at} measure={measure} />
          ))}
        </Stack>
      )}
    </GroupsFrame>
  );
}

function PivotTable({ groups, at, measure }: { groups: Groups; at: number; measure: string }) {
  const { query } = useExplore();
  const { textsOf, picksOfRow } = useGroupMarks(groups, query.group, at);
  const sums = isAdditive(measure) && !sharesRows(query.group);
  const { by, ascending, change: byChange } = orderOf(query);
  const bySum = sums && !byChange && !query.group.includes(by);
  const order = ascending ? "smallest first" : "largest first";
  const pivot = pivotOf(groups, at, textsOf, query.limit, bySum ? order : null);
  const cut = cutWords(pivot, groups);
  return (
    <div>
      {query.measures.length > 1 && (
        <Text size="xs" fw={600} mb={4}>
          {measureLabel(measure)}
        </Text>
      )}
      <Table.ScrollContainer minWidth={300} type="native" mah="74vh">
        <Table className="numbers" fz="xs" verticalSpacing={3} stickyHeader withRowBorders={false}>
          <Head groups={groups} pivot={pivot} sums={sums} picksOfRow={picksOfRow} />
          <Table.Tbody>
            {pivot.lines.map((line) => (
              <Line
                key={JSON.stringify(line.keys)}
                {...{ line, pivot, at, measure, sums, picksOfRow }}
                compared={groups.compared}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {cut !== "" && (
        <Text size="xs" c="dimmed" mt={4} role="note">
          {cut}; sums are of what is shown.
        </Text>
      )}
    </div>
  );
}

/** What of the groups is not in the table; empty if all are. */
export function cutWords(pivot: Pivot, groups: Pick<Groups, "rows" | "cut">): string {
  const hidden = [
    ...(pivot.hiddenLines > 0 ? [counted(pivot.hiddenLines, "line")] : []),
    ...(pivot.hiddenColumns > 0 ? [counted(pivot.hiddenColumns, "column")] : []),
  ];
  const words = [
    ...(hidden.length > 0 ? [`${hidden.join(" and ")} not shown`] : []),
    ...(groups.cut
      ? [`only the largest ${counted(groups.rows.length, "group")} were asked for`]
      : []),
  ];
  return words.join("; ");
}

type PicksOfRow = ReturnType<typeof useGroupMarks>["picksOfRow"];

function Head(props: { groups: Groups; pivot: Pivot; sums: boolean; picksOfRow: PicksOfRow }) {
  const { groups, pivot, sums, picksOfRow } = props;
  const { openMenu } = useExplore();
  return (
    <Table.Thead>
      <Table.Tr>
        {groups.keyNames.slice(0, -1).map((name) => (
          <Table.Th key={name}>{name}</Table.Th>
        ))}
        {pivot.columns.map(({ key, text }) => {
          const row = groups.rows.find((it) => JSON.stringify(it.keys.at(-1) ?? null) === key);
          return (
            <Table.Th key={key} ta="right" className="cell" title={text}>
              <UnstyledButton
                fz="xs"
                fw={600}
                className="value"
                onClick={(event) =>
                  row &&
                  openMenu({
                    label: text,
                    picks: picksOfRow(row).slice(-1),
                    point: pointOf(event),
                  })
                }
              >
                {text}
              </UnstyledButton>
            </Table.Th>
          );
        })}
        {sums && <Table.Th ta="right">sum</Table.Th>}
      </Table.Tr>
    </Table.Thead>
  );
}

function Line(props: {
  line: PivotLine;
  pivot: Pivot;
  at: number;
  measure: string;
  sums: boolean;
  compared: boolean;
  picksOfRow: PicksOfRow;
}) {
  const { line, pivot, at, measure, sums, compared, picksOfRow } = props;
  const { openMenu } = useExplore();
  const first = line.cells.find((it) => it !== undefined);
  const name = line.texts.join(" · ");
  return (
    <Table.Tr>
      {line.texts.map((text, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is which group column it is
        <Table.Td key={place} className="cell">
          <UnstyledButton
            fz="xs"
            className="value"
            title={text}
            onClick={(event) =>
              first &&
              openMenu({
                label: name,
                picks: picksOfRow(first).slice(0, -1),
                point: pointOf(event),
              })
            }
          >
            {text}
          </UnstyledButton>
        </Table.Td>
      ))}
      {line.cells.map((row, place) => {
        const column = pivot.columns[place];
        return (
          <PivotCell
            key={column?.key}
            {...{ row, at, measure, compared }}
            most={pivot.most}
            label={`${name} · ${column?.text}`}
            picksOfRow={picksOfRow}
          />
        );
      })}
      {sums && (
        <Table.Td ta="right" fw={600} className="nowrap">
          <ValueText value={sumOf(line.cells, at)} compared={compared} measure={measure} />
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function PivotCell(props: {
  row: GroupRow | undefined;
  at: number;
  measure: string;
  most: number;
  compared: boolean;
  label: string;
  picksOfRow: PicksOfRow;
}) {
  const { row, at, measure, most, compared, label, picksOfRow } = props;
  const { columns, openMenu } = useExplore();
  const unit = measureUnit(measure, columns);
  const dark = useComputedColorScheme("light") === "dark";
  if (!row) return <Table.Td />;
  const value = row.values[at] ?? { now: null, before: null };
  const share = most > 0 ? Math.sqrt(Math.min(1, Math.abs(value.now ?? 0) / most)) : 0;
  const ground = dark
    ? `rgb(40 90 170 / ${(share * 70).toFixed(0)}%)`
    : `rgb(59 125 216 / ${(share * 48).toFixed(0)}%)`;
  return (
    <Table.Td
      ta="right"
      className="nowrap"
      style={{ background: ground, opacity: row.samples < FEW ? 0.75 : 1 }}
      title={`${label}: ${value.now === null ? "none" : exactly(value.now)}, ${counted(row.samples, "stored row")}`}
    >
      <UnstyledButton
        fz="xs"
        className="value"
        aria-label={`${label}: ${value.now === null ? "none" : inUnit(value.now, unit)}`}
        onClick={(event) => openMenu({ label, picks: picksOfRow(row), point: pointOf(event) })}
      >
        <ValueText value={value} compared={compared} measure={measure} />
      </UnstyledButton>
    </Table.Td>
  );
}

function ValueText(props: { value: Value; compared: boolean; measure: string }) {
  const { value, compared, measure } = props;
  const { columns } = useExplore();
  const unit = measureUnit(measure, columns);
  const step = isEstimated(measure) ? SKETCH_STEP : 0;
  const isNew = (value.before ?? 0) === 0 && (value.now ?? 0) !== 0;
  const changed = change(value.now, value.before, step) ?? (isNew ? "new" : "–");
  return (
    <>
      {value.now === null ? "–" : inUnit(value.now, unit)}
      {compared && (
        <Text span fz={10} c="dimmed" ml={6}>
          {changed}
        </Text>
      )}
    </>
  );
}
