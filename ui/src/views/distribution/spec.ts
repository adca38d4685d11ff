// The requests of the distribution: first its percentiles, then a histogram between two
// percentiles.

import type { QuerySpec } from "../../api/types";
import { BARS_MAX } from "../../charts/distribution/data";
import { baseSpec, compareOf, type ResolvedQuery } from "../../query/spec";
import { quoteName } from "../../query/sql";

/** Statistics of a number column: mean, percentiles, how many values. */
export function summarySpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const name = quoteName(column);
  const percentiles = ["p01", "p05", "p25", "p50", "p75", "p95", "p99"];
  const parts = percentiles.map((it) => `percentile(${name}, ${Number(it.slice(1))}) AS ${it}`);
  const ends = [`min(${name}) AS smallest`, `max(${name}) AS largest`, `avg(${name}) AS mean`];
  return {
    ...baseSpec(resolved),
    aggregates: [...ends, ...parts, `count(${name}) AS events`, `raw_count(${name}) AS samples`],
  };
}

/**
 * Buckets of each side of a comparison. The two sides may get different widths: 1, 2 or 5 times a
 * power of ten. With five times as many buckets as bars, each bucket fits into one common bar.
 */
const BUCKETS_COMPARED = 5 * BARS_MAX + 1;

/**
 * How the values of a column spread over buckets between two numbers, both included; with all their
 * digits, since those of large ones are more than a double has.
 */
export function histogramSpec(
  resolved: ResolvedQuery,
  column: string,
  low: string,
  high: string,
): QuerySpec {
  const { filter = [], ...rest } = baseSpec(resolved);
  const name = quoteName(column);
  const buckets = resolved.query.compare === "" ? BARS_MAX : BUCKETS_COMPARED;
  return {
    ...rest,
    filter: [...filter, `${name} BETWEEN ${low} AND ${high}`],
    aggregates: [`histogram(${name}, ${buckets}) AS spread`],
    ...compareOf(resolved.query, resolved.range),
  };
}
