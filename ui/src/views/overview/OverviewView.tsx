import {
  Group,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  UnstyledButton,
} from "@mantine/core";
import { useDeferredValue, useMemo } from "react";
import { numberOf } from "../../api/client";
import type { QuerySpec } from "../../api/types";
import { durationWords } from "../../base/duration";
import { sides, useAnswer, useAsked, withoutPartial } from "../../explore/answers";
import { rankByRepetition } from "../../explore/columnRanking";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { type Measure, measureLabel } from "../../query/measure";
import { EVENTS, orderOf, type ResolvedQuery, seriesRange } from "../../query/spec";
import { withView } from "../../query/viewManifest";
import { ProblemCard } from "../../widgets/ProblemCard";
import { SampleRows } from "../samples/SampleRows";
import { samplesSpec } from "../samples/spec";
import { MeasureChart } from "../time/MeasureChart";
import { Facet } from "./Facet";
import { FACETS, haveStats, numberColumns, valueColumns } from "./facetColumns";
import { Headlines } from "./Headlines";
import { headlines } from "./headlines";
import { NumberFacet } from "./NumberFacet";
import { chartQuery, headlineSpec } from "./spec";
import type { Totals } from "./useFacet";

const SAMPLES = 12;

/** What a table is like at first sight: big numbers, what happens over time, top values, some rows. */
export function OverviewView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, columns } = useExplore();
  const overTime = useAnswer(spec);
  const plain = useMemo(() => chartQuery(resolved), [resolved]);
  const drawn = useAsked(overTime, plain);
  const shown = query.measures[0] ?? EVENTS;
  const measures = headlines(columns, shown);
  const totals = useAnswer(headlineSpec(resolved, measures));
  const totalled = useAsked(withoutPartial(totals), measures);
  const both = totals.data && sides(totals.data);
  const totalOf = (measure: Measure) => {
    const at = totalled.indexOf(measure);
    if (at < 0 || totals.isPlaceholderData) return null;
    return numberOf(both?.now[0]?.[0][at + (both.before ? 1 : 0)]);
  };
  // What is wrong with the query is said once.
  const some = !overTime.error && overTime.data?.stats.rows_matched !== 0;
  return (
    <Stack gap="lg">
      {some && <Headlines measures={totalled} answer={totals.data} />}
      <ViewFrame title={titleOf(drawn)} spec={spec} result={overTime} height={220}>
        {(answer) => <MeasureChart answer={answer} at={0} height={220} of={drawn} />}
      </ViewFrame>
      {some && (
        <>
          <Facets totals={totalOf} />
          <NewestRows />
        </>
      )}
    </Stack>
  );
}

/** The first measure, and the length of the chart's buckets. */
function titleOf(resolved: ResolvedQuery): string {
  const label = measureLabel(resolved.query.measures[0] ?? "");
  const bucket = durationWords(seriesRange(resolved).bucket).replace(/^1 /, "");
  return `${label.charAt(0).toUpperCase()}${label.slice(1)} over time, per ${bucket}`;
}

function Facets({ totals }: { totals: Totals }) {
  const { resolved, query, columns, statsLoaded } = useExplore();
  const haveAny = haveStats(columns);
  // Column statistics of many rows take time; until then, a few sample rows decide.
  const guessed = statsLoaded && !haveAny;
  const samples = useAnswer(guessed ? samplesSpec(resolved, SAMPLES) : null);
  const repeating = guessed && samples.data ? rankByRepetition(samples.data, query, FACETS) : [];
  const facets = haveAny
    ? valueColumns(columns, query)
    : columns.filter((column) => repeating.includes(column.name));
  const numbers = haveAny ? numberColumns(columns, facets) : [];
  return (
    <Stack gap="xs">
      {query.compare !== "" && <FacetSort />}
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3, xl: 4 }} spacing="sm">
        {facets.map((column) => (
          <Facet key={column.name} column={column} totals={totals} />
        ))}
        {numbers.map((column) => (
          <NumberFacet key={column.name} column={column} />
        ))}
        {haveAny ||
          facets.length > 0 ||
          ["first", "second", "third"].map((it) => <Skeleton key={it} h={170} />)}
      </SimpleGrid>
    </Stack>
  );
}

/** Whether the values come first that are largest, or those that changed most. */
function FacetSort() {
  const { query, commit } = useExplore();
  const measure = query.measures[0] ?? EVENTS;
  return (
    <Group gap="xs" justify="flex-end">
      <Text size="xs" c="dimmed">
        Sort by
      </Text>
      <SegmentedControl
        size="xs"
        aria-label="Sort the values by"
        value={orderOf(query).change ? "change" : "value"}
        onChange={(by) => commit({ ...query, order: by === "change" ? `change ${measure}` : "" })}
        data={[
          { value: "value", label: measureLabel(measure) },
          { value: "change", label: "change" },
        ]}
      />
    </Group>
  );
}

function NewestRows() {
  const { resolved, query, commit } = useExplore();
  const samples = useAnswer(samplesSpec(resolved, SAMPLES));
  // What is above comes first.
  const answer = useDeferredValue(samples.data);
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm" fw={600} component="h2" m={0}>
          Newest rows
        </Text>
        <UnstyledButton fz="xs" className="link" onClick={() => commit(withView(query, "samples"))}>
          All samples
        </UnstyledButton>
      </Group>
      {samples.error ? (
        <ProblemCard problem={samples.error} onRetry={() => void samples.refetch()} />
      ) : answer ? (
        <SampleRows answer={answer} most={SAMPLES} />
      ) : (
        <Skeleton h={260} />
      )}
    </Stack>
  );
}
