import { Group, Paper, Skeleton, Text, UnstyledButton } from "@mantine/core";
import type { Column } from "../../api/types";
import { count } from "../../base/format";
import { inUnit, unitOfColumn } from "../../base/units";
import { type Bar, spreadOf } from "../../charts/distribution/data";
import { drawnAs, useAnswer } from "../../explore/answers";
import { pointOf, useExplore } from "../../explore/context";
import { excludeRange, withFilter } from "../../query/edit";
import type { Filter } from "../../query/filter";
import { viewOfColumn } from "../../query/viewManifest";
import { FacetNote } from "./FacetNote";
import { barsSpec, numberSpec, percentilesOf } from "./spec";

/** How the middle 98 % of a number column spread: a small histogram, the median and p95. */
export function NumberFacet({ column }: { column: Column }) {
  const { resolved, query, views, commit } = useExplore();
  const summary = useAnswer(numberSpec(resolved, column.name));
  const summed = summary.partial ?? summary.data;
  const percentiles = percentilesOf(summed);
  // Bars between the percentiles of a part would be asked for again with each further part.
  const ready = !summary.partial && !summary.isPlaceholderData;
  const spread = useAnswer(
    percentiles && ready ? barsSpec(resolved, column.name, percentiles) : null,
  );
  const counted = spread.partial ?? spread.data;
  const bars = counted ? spreadOf(counted).bars : [];
  const unit = unitOfColumn([column], column.name);
  const distribution = views.find(({ kind }) => kind === "distribution");
  return (
    <Paper
      withBorder
      p="sm"
      data-testid={`facet-${column.name}`}
      data-busy={summary.isFetching || spread.isFetching}
    >
      <Group justify="space-between" mb={6} wrap="nowrap">
        <Text size="sm" fw={600} truncate title={column.name}>
          {column.name}
        </Text>
        <UnstyledButton
          fz="xs"
          className="nowrap link"
          onClick={() => distribution && commit(viewOfColumn(query, distribution, column.name))}
        >
          Distribution
        </UnstyledButton>
      </Group>
      {!summed && !summary.error && <Skeleton h={92} />}
      {summed && !summary.error && (
        <>
          <div className={`mini-bars ${drawnAs(spread)}`}>
            {bars.map((bar) => (
              <MiniBar key={bar.from} column={column.name} bar={bar} bars={bars} />
            ))}
          </div>
          <Text size="xs" className={`numbers ${drawnAs(summary)}`} c="dimmed" mt={4}>
            {percentiles
              ? `p50 ${inUnit(percentiles.p50, unit)} · p95 ${inUnit(percentiles.p95, unit)}`
              : "No values here"}
          </Text>
        </>
      )}
      <FacetNote result={summary} about={column.name} />
    </Paper>
  );
}

function MiniBar(props: { column: string; bar: Bar; bars: readonly Bar[] }) {
  const { column, bar, bars } = props;
  const { columns, openMenu } = useExplore();
  const unit = unitOfColumn(columns, column);
  const tallest = Math.max(1, ...bars.map(({ now }) => now));
  const closed = bar === bars.at(-1) || bar.from === bar.to;
  const from: Filter = { column, operator: ">=", values: [String(bar.from)] };
  const to: Filter = { column, operator: closed ? "<=" : "<", values: [String(bar.to)] };
  const label = `${column} from ${inUnit(bar.from, unit)} to ${inUnit(bar.to, unit)}`;
  return (
    <button
      type="button"
      className="plain"
      tabIndex={-1}
      title={`${label}: ${count(bar.now)} events`}
      aria-label={`${label}: ${count(bar.now)} events`}
      onClick={(event) =>
        openMenu({
          label,
          picks: [],
          point: pointOf(event),
          narrow: (it) => withFilter(withFilter(it, from), to),
          without: (it) => excludeRange(it, from, to),
        })
      }
    >
      <span style={{ height: `${(bar.now / tallest) * 100}%` }} />
    </button>
  );
}
