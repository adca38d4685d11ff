import { Group, Paper, SimpleGrid, Stack, Text } from "@mantine/core";
import { numberOf } from "../../api/client";
import type { Answer } from "../../api/types";
import { exactly, percent } from "../../base/format";
import { inUnit, unitOfColumn } from "../../base/units";
import { DistributionChart } from "../../charts/distribution/DistributionChart";
import type { Spread } from "../../charts/distribution/data";
import { cellText } from "../../explore/CellText";
import { useExplore } from "../../explore/context";
import { excludeRange, only, type PickedValue, picksOf, withFilter } from "../../query/edit";
import type { Filter } from "../../query/filter";
import type { Query } from "../../query/query";
import type { Edges } from "./edges";
import { type GroupSpread, groupSpreads } from "./groupSpreads";
import { type Bounds, type Statistics, statisticsOf } from "./summary";

interface PanelProps {
  readonly answer: Answer;
  readonly summary: Answer;
  readonly column: string;
  /** The edges that were asked for; null if the server chose. */
  readonly bins: Edges | null;
  readonly bounds: Bounds | null;
}

/** The histogram, one for each group where there are some, and the percentiles of all rows. */
export function SpreadPanel(props: PanelProps) {
  const { answer, summary, column, bins, bounds } = props;
  const { query } = useExplore();
  const { now, before } = statisticsOf(summary);
  const spreads = groupSpreads(answer, query.group.length, bins);
  const grouped = query.group.length > 0;
  const total = spreads[0]?.spread.total ?? 0;
  const all = numberOf(now("events")) ?? 0;
  const marks = (["p50", "p95", "p99", "mean"] as const).flatMap((name) => {
    const at = numberOf(now(name));
    return at === null ? [] : [{ label: name === "p50" ? "median" : name, value: at }];
  });
  return (
    <Stack gap="xs">
      {grouped ? (
        <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }} spacing="xs">
          {spreads.map((group) => (
            <GroupChart key={JSON.stringify(group.keys)} group={group} of={props} />
          ))}
        </SimpleGrid>
      ) : (
        spreads[0] && (
          <Chart spread={spreads[0].spread} marks={marks} height={320} picks={[]} of={props} />
        )
      )}
      <Percentiles column={column} now={now} before={before} />
      {!grouped && spreads[0] && <OneValue spread={spreads[0].spread} bounds={bounds} all={all} />}
      {!grouped && all > 0 && total < all && (
        <Text size="xs" c="dimmed">
          {percent(1 - total / all)} of the values are outside the range shown.
        </Text>
      )}
    </Stack>
  );
}

function GroupChart({ group, of }: { group: GroupSpread; of: PanelProps }) {
  const { query, columns, zone, identifiers } = useExplore();
  const first = of.answer.columns[0]?.name === "side" ? 1 : 0;
  const heads = of.answer.columns.slice(first, first + query.group.length);
  const types = heads.map(({ type }) => type);
  const texts = group.keys.map((key, at) =>
    cellText(key, types[at] ?? "string", zone, identifiers.has(heads[at]?.name ?? "")),
  );
  const picks = picksOf(query.group, group.keys, types, columns);
  return (
    <Chart
      spread={group.spread}
      marks={[]}
      height={150}
      picks={picks}
      title={texts.join(" · ")}
      of={of}
    />
  );
}

function Chart(props: {
  spread: Spread;
  marks: readonly { label: string; value: number }[];
  height: number;
  /** The group whose values are drawn. */
  picks: readonly PickedValue[];
  title?: string;
  of: PanelProps;
}) {
  const { spread, marks, height, picks, title, of } = props;
  const { column, bins, bounds } = of;
  const { columns, openMenu } = useExplore();
  const unit = unitOfColumn(columns, column);
  const pick = (
    range: { from: number; to: number; closed: boolean },
    point: { x: number; y: number },
  ) => {
    const ends = bins ? null : (bounds?.values ?? null);
    const low = Math.max(range.from, ends?.low ?? range.from);
    const high = Math.min(range.to, ends?.high ?? range.to);
    const closed = range.closed || high < range.to;
    const from: Filter = { column, operator: ">=", values: [String(low)] };
    const to: Filter = { column, operator: closed ? "<=" : "<", values: [String(high)] };
    const within = (query: Query) => withFilter(withFilter(query, from), to);
    const said = `${column} from ${inUnit(low, unit)} to ${inUnit(high, unit)}`;
    openMenu({
      label: title === undefined ? said : `${title}, ${said}`,
      picks: [],
      point,
      narrow: (it) => within(only(it, picks)),
      // Out of a group, only its own rows between the ends go; without one, all of them.
      ...(picks.length === 0 ? { without: (query: Query) => excludeRange(query, from, to) } : {}),
    });
  };
  return (
    <Paper withBorder p="xs">
      {title !== undefined && (
        <Text size="xs" fw={600} truncate title={title}>
          {title}
        </Text>
      )}
      <DistributionChart data={spread} marks={marks} unit={unit} height={height} onPick={pick} />
    </Paper>
  );
}

/** Names of statistics whose SQL names differ. */
const LABELS: Readonly<Record<string, string>> = { smallest: "min", largest: "max" };
const SHOWN = ["smallest", "p05", "p25", "p50", "p75", "p95", "p99", "largest", "mean"];

/** The percentiles of now, and beneath them those of before. */
function Percentiles(props: { column: string; now: Statistics; before: Statistics | null }) {
  const { column, now, before } = props;
  const { columns } = useExplore();
  const unit = unitOfColumn(columns, column);
  const text = (of: Statistics, name: string) => {
    const number = numberOf(of(name));
    return number === null ? "–" : inUnit(number, unit);
  };
  return (
    <Group gap="lg" className="numbers">
      {SHOWN.map((name) => (
        <Stack key={name} gap={0}>
          <Text size="xs" c="dimmed">
            {LABELS[name] ?? name}
          </Text>
          <Text size="sm">{text(now, name)}</Text>
          {before && (
            <Text size="xs" c="dimmed" title={`${LABELS[name] ?? name} before`}>
              {text(before, name)}
            </Text>
          )}
        </Stack>
      ))}
      {before && (
        <Text size="xs" c="dimmed">
          now, and before
        </Text>
      )}
    </Group>
  );
}

/** Where all values are one. */
function OneValue(props: { spread: Spread; bounds: Bounds | null; all: number }) {
  const { spread, bounds, all } = props;
  const [bar, ...bars] = spread.bars;
  const equal = bounds !== null && bounds.least === bounds.most;
  // A number as large as that may stand for several.
  const one = equal || (bar?.from === bar?.to && Math.abs(bar?.from ?? 0) < 2 ** 53);
  if (!one || !bar || bars.length > 0) return null;
  return (
    <Text size="sm" ta="center">
      {spread.total < all ? "Nearly all" : "All"} values are {exactly(bar.from)}.
    </Text>
  );
}
