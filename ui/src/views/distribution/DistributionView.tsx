import { Button, Group, Paper, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useEffect } from "react";
import { numberOf } from "../../api/client";
import type { Answer, Cell, QuerySpec } from "../../api/types";
import { exactly, percent } from "../../base/format";
import { inUnit, unitOfName } from "../../base/units";
import { DistributionChart } from "../../charts/distribution/DistributionChart";
import { spreadOf } from "../../charts/distribution/data";
import { columnIndex, useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { excludeRange, withFilter } from "../../query/edit";
import type { Filter } from "../../query/filter";
import { optionOf, withOption } from "../../query/viewManifest";
import { ALL, COLUMN, columnOf, EXTENT } from "./options";
import { percentileBound } from "./percentileBounds";
import { histogramSpec } from "./spec";

/** How the values of a number column spread, between the 1st and the 99th percentile or in full. */
export function DistributionView({ spec }: { spec: QuerySpec }) {
  const { resolved, columns, statsLoaded, loadStats, query } = useExplore();
  const names = columns.filter(({ type }) => type === "number").map(({ name }) => name);
  const chooses = names.length > 1 && optionOf(query, COLUMN) === "" && !statsLoaded;
  useEffect(() => {
    if (chooses) loadStats();
  }, [chooses, loadStats]);
  const column = columnOf(resolved);
  if (chooses || !column) return <Skeleton h={320} aria-label="Choosing a column" />;
  return <Distribution key={column} spec={spec} column={column} names={names} />;
}

function Distribution(props: { spec: QuerySpec; column: string; names: string[] }) {
  const { spec: summed, column, names } = props;
  const { resolved, query, commit } = useExplore();
  const summary = useAnswer(summed);
  const value = valueReader(summary.data);
  const full = optionOf(query, EXTENT) === ALL;
  const cell = (name: string) => cellOf(summary.data, name);
  const [least, most] = full
    ? [String(cell("smallest")), String(cell("largest"))]
    : [
        percentileBound(cell("p01"), cell("smallest"), "low"),
        percentileBound(cell("p99"), cell("largest"), "high"),
      ];
  const [low, high] = [numberOf(least), numberOf(most)];
  const hasBounds = low !== null && high !== null && !summary.isPlaceholderData;
  const spec = hasBounds ? histogramSpec(resolved, column, least, most) : null;
  const spread = useAnswer(spec);
  const staleSince = summary.staleSince ?? spread.staleSince;
  const isFetching = summary.isFetching || spread.isFetching;
  const nothing = summary.data && !summary.isPlaceholderData && low === null;
  const choose = (
    <Group gap="xs">
      <Select
        size="xs"
        w={200}
        searchable
        aria-label="Column"
        data={names}
        value={column}
        allowDeselect={false}
        onChange={(name) => name && commit(withOption(query, COLUMN, name))}
      />
      <Button
        size="xs"
        variant="default"
        onClick={() => commit(withOption(query, EXTENT, full ? "" : ALL))}
      >
        {full ? "Middle 98 %" : "All values"}
      </Button>
    </Group>
  );
  return (
    <ViewFrame
      title="Distribution of"
      spec={spec ?? summed}
      rowCounts={{ samples: value("samples") ?? 0, events: value("events") }}
      result={nothing || summary.error ? summary : { ...spread, staleSince, isFetching }}
      height={320}
      tools={choose}
    >
      {(answer) =>
        nothing ? (
          <NoValues column={column} />
        ) : (
          <Spread
            answer={answer}
            summary={summary.data}
            column={column}
            ends={{ low, high, equal: least === most }}
          />
        )
      }
    </ViewFrame>
  );
}

function NoValues({ column }: { column: string }) {
  return (
    <Text c="dimmed" py={48} ta="center">
      No row here has a value in {column}.
    </Text>
  );
}

const cellOf = (answer: Answer | undefined, name: string): Cell =>
  answer?.rows[0]?.[columnIndex(answer, name)] ?? null;

const valueReader = (answer: Answer | undefined) => (name: string) =>
  numberOf(cellOf(answer, name));

/** Names of statistics whose SQL names differ. */
const LABELS: Readonly<Record<string, string>> = { smallest: "min", largest: "max" };

function Spread(props: {
  answer: Answer;
  summary: Answer | undefined;
  column: string;
  /** The values between which rows are counted, and whether they are one; bars may reach beyond. */
  ends: { low: number | null; high: number | null; equal: boolean };
}) {
  const { answer, summary, column, ends } = props;
  const { openMenu } = useExplore();
  const unit = unitOfName(column);
  const value = valueReader(summary);
  const spread = spreadOf(answer);
  const marks = (["p50", "p95", "p99", "mean"] as const).flatMap((name) => {
    const at = value(name);
    return at === null ? [] : [{ label: name === "p50" ? "median" : name, value: at }];
  });
  const drawn = spread.total;
  const all = value("events") ?? 0;
  const [bar, ...bars] = spread.bars;
  // A number as large as that may stand for several.
  const one = ends.equal || (bar?.from === bar?.to && Math.abs(bar?.from ?? 0) < 2 ** 53);
  const same = one && bar && bars.length === 0 ? bar.from : undefined;
  const pick = (
    range: { from: number; to: number; closed: boolean },
    point: { x: number; y: number },
  ) => {
    const low = Math.max(range.from, ends.low ?? range.from);
    const high = Math.min(range.to, ends.high ?? range.to);
    const closed = range.closed || high < range.to;
    const from: Filter = { column, operator: ">=", values: [String(low)] };
    const to: Filter = { column, operator: closed ? "<=" : "<", values: [String(high)] };
    openMenu({
      label: `${column} from ${inUnit(low, unit)} to ${inUnit(high, unit)}`,
      picks: [],
      point,
      narrow: (it) => withFilter(withFilter(it, from), to),
      without: (it) => excludeRange(it, from, to),
    });
  };
  return (
    <Stack gap="xs">
      <Paper withBorder p="xs">
        <DistributionChart data={spread} marks={marks} unit={unit} height={320} onPick={pick} />
      </Paper>
      <Group gap="lg" className="numbers">
        {["smallest", "p05", "p25", "p50", "p75", "p95", "p99", "largest", "mean"].map((name) => (
          <Stack key={name} gap={0}>
            <Text size="xs" c="dimmed">
              {LABELS[name] ?? name}
            </Text>
            <Text size="sm">{value(name) === null ? "–" : inUnit(value(name) ?? 0, unit)}</Text>
          </Stack>
        ))}
      </Group>
      {same !== undefined && (
        <Text size="sm" ta="center">
          {drawn < all ? "Nearly all" : "All"} values are {exactly(same)}.
        </Text>
      )}
      {all > 0 && drawn < all && (
        <Text size="xs" c="dimmed">
          {percent(1 - drawn / all)} of the values are outside the range shown.
        </Text>
      )}
    </Stack>
  );
}
