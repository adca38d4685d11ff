// The requests of the distribution: first its percentiles, then a histogram between two
// percentiles.

import type { QuerySpec } from "../../api/types";
import { BARS_MAX } from "../../charts/distribution/data";
import { baseSpec, compareOf, EVENTS, type ResolvedQuery } from "../../query/spec";
import { quoteName } from "../../query/sql";

/** Statistics of a number column: mean, percentiles, how many values; of both sides if compared. */
export function summarySpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const name = quoteName(column);
  const percentiles = ["p01", "p05", "p25", "p50", "p75", "p95", "p99"];
  const parts = percentiles.map((it) => `percentile(${name}, ${Number(it.slice(1))}) AS ${it}`);
  const ends = [`min(${name}) AS smallest`, `max(${name}) AS largest`, `avg(${name}) AS mean`];
  const whole = `min(${name} = floor(${name})) AS whole`;
  const counts = [`count(${name}) AS events`, `raw_count(${name}) AS samples`];
  return {
    ...baseSpec(resolved),
    aggregates: [...ends, ...parts, ...counts, whole],
    ...compareOf(resolved),
  };
}

/**
 * Buckets of each side of a comparison. The two sides may get different widths: 1, 2 or 5 times a
 * power of ten. With five times as many buckets as bars, each bucket fits into one common bar.
 */
const BUCKETS_COMPARED = 5 * BARS_MAX + 1;

/** Small charts of groups that are drawn at most. */
const GROUPS_MOST = 12;

/**
 * How the values of a column spread over buckets between two numbers, both included; with all their
 * digits, since those of large ones are more than a double has. Of each of the largest groups.
 */
export function histogramSpec(
  resolved: ResolvedQuery,
  column: string,
  low: string,
  high: string,
): QuerySpec {
  const name = quoteName(column);
  const buckets = resolved.query.compare === "" ? BARS_MAX : BUCKETS_COMPARED;
  const within = `${name} BETWEEN ${low} AND ${high}`;
  return spreadSpec(resolved, within, `histogram(${name}, ${buckets})`);
}

/** The same between given edges; no bar contains its upper one. */
export function betweenSpec(
  resolved: ResolvedQuery,
  column: string,
  edges: readonly number[],
): QuerySpec {
  const name = quoteName(column);
  const within = `${name} >= ${edges[0]} AND ${name} < ${edges.at(-1)}`;
  return spreadSpec(resolved, within, `histogram(${name}, ARRAY[${edges.join(", ")}])`);
}

function spreadSpec(resolved: ResolvedQuery, within: string, histogram: string): QuerySpec {
  const { query } = resolved;
  const { filter = [], ...rest } = baseSpec(resolved);
  const compared = compareOf(resolved);
  const groups = Math.min(query.series, GROUPS_MOST);
  return {
    ...rest,
    filter: [...filter, within],
    aggregates: [`${histogram} AS spread`],
    ...compared,
    ...(query.group.length === 0
      ? {}
      : {
          group_by: [...query.group],
          aggregates: [`${histogram} AS spread`, EVENTS],
          order_by: [`${EVENTS} DESC`],
          limit: compared.compare ? 2 * groups : groups,
        }),
  };
}
