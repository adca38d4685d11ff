import { Paper, SimpleGrid, Table, Text, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { Fragment } from "react";
import { numberOf } from "../api/client";
import type { Answer, Cell } from "../api/types";
import { change, count, exact, SKETCH_STEP, short } from "../base/format";
import { picksOf } from "../query/edit";
import { isEstimated, measureLabel } from "../query/measure";
import type { Question } from "../query/question";
import { orderOf, tableSpec } from "../query/spec";
import { weigh } from "../widgets/CoverageCorner";
import { sides, useAnswer } from "./answers";
import { cellText } from "./CellText";
import { isUnreached } from "./compared";
import { pointOf, useDive } from "./dive";
import { type GroupRow, type GroupTable, groupTable, otherMeasures } from "./groups";
import { ViewFrame } from "./ViewFrame";

/** Groups as rows, with a bar behind each number, and a total; without groups, the totals alone. */
export function TableView() {
  const { asked, question } = useDive();
  const spec = tableSpec(asked);
  const result = useAnswer(spec);
  const totals = useAnswer(tableSpec({ ...asked, question: { ...question, group: [] } }));
  // The rows are of the shown groups; the answer rests on those of all groups.
  const all = totals.error ? result.data : totals.data;
  const isFetching = result.isFetching || totals.isFetching;
  const title = question.group.length === 0 ? "In all" : "Groups";
  return (
    <ViewFrame
      title={title}
      spec={spec}
      result={{ ...result, isFetching }}
      weighed={all ? weigh(all) : null}
      height={400}
    >
      {(answer) =>
        question.group.length === 0 ? (
          <BigNumbers answer={answer} />
        ) : (
          <Groups groups={groupTable(answer, question)} totals={totals.data} />
        )
      }
    </ViewFrame>
  );
}

/** The only row of an answer without groups, of the present side and of the one before. */
function totalsOf(answer: Answer | undefined): { now: Cell[]; before: Cell[] | null } | null {
  if (!answer) return null;
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const row = now[0]?.[0].slice(first);
  return row ? { now: row, before: before?.[0]?.[0].slice(first) ?? null } : null;
}

function BigNumbers({ answer }: { answer: Answer }) {
  const { question } = useDive();
  const totals = totalsOf(answer);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} data-testid="totals">
      {question.measures.map((measure, at) => {
        const now = totals?.now[at] ?? null;
        const before = totals?.before?.[at] ?? null;
        return (
          <Paper key={measure} withBorder p="md">
            <Text size="xs" c="dimmed">
              {measureLabel(measure)}
            </Text>
            <Text fz={28} fw={600} className="numbers" title={exact(String(now ?? "none"))}>
              {numberText(now)}
            </Text>
            {before !== null && (
              <Text size="xs" c="dimmed" className="numbers">
                {numberText(before)} before,{" "}
                {change(numberOf(now), numberOf(before), stepOf(measure)) ?? "no change to tell"}
              </Text>
            )}
          </Paper>
        );
      })}
    </SimpleGrid>
  );
}

/** What changes of a measure can be told from none. */
const stepOf = (measure: string) => (isEstimated(measure) ? SKETCH_STEP : 0);

function numberText(cell: Cell): string {
  const number = numberOf(cell);
  return number === null ? String(cell ?? "–") : short(number);
}

function Groups({ groups, totals }: { groups: GroupTable; totals: Answer | undefined }) {
  const { question } = useDive();
  const total = totalsOf(totals);
  const tops = question.measures.map((_, at) =>
    Math.max(0, ...groups.rows.map((row) => numberOf(row.measures[at] ?? null) ?? 0)),
  );
  return (
    <>
      <Table.ScrollContainer minWidth={300} type="native">
        <Table className="groups numbers" fz="sm" verticalSpacing={4} highlightOnHover stickyHeader>
          <Head groups={groups} />
          <Table.Tbody>
            {groups.rows.map((row) => (
              <GroupLine key={JSON.stringify(row.keys)} row={row} groups={groups} tops={tops} />
            ))}
            {total && <Sums groups={groups} total={total} />}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {groups.found >= question.limit && (
        <Text size="xs" c="dimmed" mt="xs">
          The first {count(groups.rows.length)}
          {groups.compared && !groups.partly && ` of ${count(groups.found)}`} groups are shown; the
          limit is at the left.
        </Text>
      )}
      <SortNote groups={groups} />
    </>
  );
}

/** What a table sorted by change leaves out or puts last. */
function SortNote({ groups }: { groups: GroupTable }) {
  const { question } = useDive();
  if (!groups.compared || !orderOf(question).change) return null;
  return (
    <Text size="xs" c="dimmed" mt="xs" role="note">
      Groups that rest on few stored rows come last.
      {groups.partly && ` Of more groups than can be compared, the ${count(groups.found)} largest.`}
    </Text>
  );
}

function Head({ groups }: { groups: GroupTable }) {
  const { question } = useDive();
  return (
    <Table.Thead>
      <Table.Tr>
        {question.group.map((by, at) => (
          <SortHead key={by} by={by} label={groups.keyNames[at] ?? by} />
        ))}
        {question.measures.map((by) => (
          <Fragment key={by}>
            <SortHead by={by} label={measureLabel(by)} right />
            {groups.compared && <Table.Th ta="right">before</Table.Th>}
            {groups.compared && <SortHead by={`change ${by}`} label="change" right />}
          </Fragment>
        ))}
        <Table.Th ta="right">rows</Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
}

function SortHead(props: { by: string; label: string; right?: boolean }) {
  const { by, label, right = false } = props;
  const { question, commit } = useDive();
  const order = orderOf(question);
  const sorted = (order.change ? `change ${order.by}` : order.by) === by;
  const Icon = order.ascending ? IconArrowUp : IconArrowDown;
  const next = sorted && !order.ascending ? `${by} asc` : by;
  return (
    <Table.Th
      ta={right ? "right" : "left"}
      aria-sort={sorted ? (order.ascending ? "ascending" : "descending") : "none"}
    >
      <UnstyledButton
        fz="sm"
        fw={600}
        className="nowrap"
        onClick={() => commit({ ...question, order: next })}
      >
        {label} {sorted && <Icon size={12} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  );
}

function GroupLine({ row, groups, tops }: { row: GroupRow; groups: GroupTable; tops: number[] }) {
  const { question, columns, zone, identifiers, openMenu } = useDive();
  const picks = picksOf(question.group, row.keys, groups.keyTypes, columns);
  const texts = row.keys.map((key, at) =>
    cellText(key, groups.keyTypes[at] ?? "null", zone, identifiers.has(groups.keyNames[at] ?? "")),
  );
  const { few } = row;
  return (
    <Table.Tr
      className={few ? "few" : ""}
      title={few ? `Only ${row.samples} stored rows` : undefined}
    >
      {texts.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is which group column it is
        <Table.Td key={at} className="cell">
          <UnstyledButton
            fz="sm"
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
        <Measured
          key={question.measures[at]}
          measure={question.measures[at] ?? ""}
          now={cell}
          before={row.before?.[at] ?? null}
          compared={groups.compared}
          top={tops[at] ?? 0}
        />
      ))}
      <Table.Td ta="right" c="dimmed">
        {count(row.samples)}
      </Table.Td>
    </Table.Tr>
  );
}

function Measured(props: {
  measure: string;
  now: Cell;
  before: Cell;
  compared: boolean;
  top: number;
}) {
  const { measure, now, before, compared, top } = props;
  const { asked, table } = useDive();
  // Where there are no rows to compare with, nothing is known to be new.
  const known = before !== null || !isUnreached(asked, table);
  const share = top > 0 ? Math.max(0, (numberOf(now) ?? 0) / top) : 0;
  return (
    <>
      <Table.Td ta="right" className="measured" title={exactText(now)}>
        <div className="bar" style={{ width: `${share * 100}%` }} />
        <span>{numberText(now)}</span>
      </Table.Td>
      {compared && (
        <>
          <Table.Td ta="right" c="dimmed" title={exactText(before)}>
            {numberText(before)}
          </Table.Td>
          <Table.Td ta="right" title={`${exactText(before)} → ${exactText(now)}`}>
            {known ? changeText(now, before, stepOf(measure)) : "–"}
          </Table.Td>
        </>
      )}
    </>
  );
}

const exactText = (cell: Cell) => (cell === null ? "none" : exact(String(cell)));

function changeText(now: Cell, before: Cell, step: number): string {
  if (before === null) return now === null ? "–" : "new";
  return now === null ? "gone" : (change(numberOf(now), numberOf(before), step) ?? "–");
}

/** The rows beneath: what the other groups hold, and all together. */
function Sums({
  groups,
  total,
}: {
  groups: GroupTable;
  total: { now: Cell[]; before: Cell[] | null };
}) {
  const { question } = useDive();
  const cut = groups.found >= question.limit;
  const shown = groups.rows.map((row) => row.measures);
  const shownBefore = groups.rows.map((row) => row.before ?? []);
  const lines = [
    ...(cut
      ? [
          {
            name: "Other groups",
            now: otherMeasures(question, shown, total.now),
            before: otherMeasures(question, shownBefore, total.before ?? []),
          },
        ]
      : []),
    { name: "All", now: total.now, before: total.before ?? [] },
  ];
  return lines.map(({ name, now, before }) => (
    <Table.Tr key={name} fw={600} className="sums">
      <Table.Td colSpan={question.group.length}>{name}</Table.Td>
      {question.measures.map((measure: Question["measures"][number], at: number) => (
        <Measured
          key={measure}
          measure={measure}
          now={now[at] ?? null}
          before={before[at] ?? null}
          compared={groups.compared}
          top={0}
        />
      ))}
      <Table.Td />
    </Table.Tr>
  ));
}
