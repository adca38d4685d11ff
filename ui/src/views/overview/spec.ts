// The requests of the overview, beside the requests of the time series and of the samples.

import { numberOf } from "../../api/client";
import type { Answer, QuerySpec } from "../../api/types";
import { comparable, isAdditive, isEstimated, type Measure } from "../../query/measure";
import type { Query } from "../../query/query";
import { baseSpec, compareOf, EVENTS, type ResolvedQuery } from "../../query/spec";
import { quoteName, withoutAlias } from "../../query/sql";

/** The query of the chart: the first measure, without groups. */
export function chartQuery(resolved: ResolvedQuery): ResolvedQuery {
  const { query } = resolved;
  const plain: Query = { ...query, group: [], measures: query.measures.slice(0, 1) };
  return { ...resolved, query: plain };
}

const measuresOf = (resolved: ResolvedQuery, measures: readonly Measure[]) => {
  const compared = compareOf(resolved);
  const fitting = compared.compare
    ? measures.map((it) => comparable(it, resolved.range))
    : [...measures];
  return { aggregates: fitting, ...compared };
};

/** The numbers at the head: each measure over all rows, and what it was before. */
export function headlineSpec(resolved: ResolvedQuery, measures: readonly Measure[]): QuerySpec {
  return { ...baseSpec(resolved), ...measuresOf(resolved, measures) };
}

/** Values of both sides of a comparison: the smallest of one may be large on the other. */
const COMPARED_VALUES = 2000;

/** Values that are requested, so that the number of further ones is known. */
export const FACET_LOOK = 101;

/**
 * The values of a column with the measure of each. The most frequent ones are asked for where the
 * measure does not add up: rare values often have extreme means.
 */
export function facetSpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const measure = resolved.query.measures[0] ?? EVENTS;
  const spec = measuresOf(resolved, measure === EVENTS ? [EVENTS] : [measure, EVENTS]);
  const by = isAdditive(measure) ? withoutAlias(measure) : EVENTS;
  return {
    ...baseSpec(resolved),
    group_by: [quoteName(column)],
    ...spec,
    ...(ranksByIntervals(measure, spec.compare !== undefined) ? { intervals: true } : {}),
    order_by: [`${by} DESC NULLS LAST`],
    limit: spec.compare ? COMPARED_VALUES : FACET_LOOK,
  };
}

/**
 * Whether values are ranked by the intervals of a measure: shares and means always, counts and sums
 * by their changes only. Intervals of many percentiles cost several times the percentiles.
 */
const ranksByIntervals = (measure: Measure, compared: boolean): boolean =>
  !isEstimated(measure) && (compared || !isAdditive(measure));

/** Percentiles of a number column, for a small histogram between them. */
export function numberSpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const name = quoteName(column);
  const percentiles = [1, 50, 95, 99].map((it) => `percentile(${name}, ${it}) AS p${it}`);
  return { ...baseSpec(resolved), aggregates: percentiles };
}

/** The 1st, 50th, 95th and 99th percentile of a number column. */
export interface Percentiles {
  readonly p1: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The percentiles of an answer; null where the column has no values. */
export function percentilesOf(answer: Answer | undefined): Percentiles | null {
  const [p1, p50, p95, p99] = (answer?.rows[0] ?? []).map(numberOf);
  return p1 != null && p50 != null && p95 != null && p99 != null ? { p1, p50, p95, p99 } : null;
}

/** Bars of a small histogram. */
const BARS = 24;

/** From here on, p99 over p50, a histogram of equal bars is one bar with a tail. */
const LONG_TAIL = 30;

/** A small histogram of the values between two percentiles, by powers of two where they are long-tailed. */
export function barsSpec(resolved: ResolvedQuery, column: string, p: Percentiles): QuerySpec {
  const { filter = [], ...rest } = baseSpec(resolved);
  const name = quoteName(column);
  const isLong = p.p1 >= 0 && p.p50 > 0 && p.p99 / p.p50 > LONG_TAIL;
  const histogram = isLong ? `histogram_log(${name}, 2)` : `histogram(${name}, ${BARS})`;
  return {
    ...rest,
    filter: [...filter, `${name} BETWEEN ${p.p1} AND ${p.p99}`],
    aggregates: [`${histogram} AS spread`],
  };
}
