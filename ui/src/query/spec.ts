// From the query to what the server is asked, a function for each kind of answer.

import type { Column, QuerySpec } from "../api/types";
import { durationMs } from "../base/duration";
import { filterSql, typeOf } from "./filter";
import { LIMIT_MAX, type Query } from "./query";
import { quoteName, quoteText } from "./sql";
import { bucketOf, bucketStart, isoText, type Range } from "./time";

/** A query with what is known when it is asked. */
export interface ResolvedQuery {
  readonly query: Query;
  readonly columns: readonly Column[];
  readonly range: Range;
}

/** Counted in every grouped answer, so that the corner can tell events and samples. */
export const EVENTS = "count(*)";

function base({ query, columns, range }: ResolvedQuery): QuerySpec {
  const filter = query.filters.map((it) => filterSql(it, typeOf(columns, it.column)));
  if (query.where.trim() !== "") filter.push(query.where.trim());
  return {
    table: query.table,
    from: isoText(range.from),
    to: isoText(range.to),
    ...(filter.length > 0 ? { filter } : {}),
    ...(query.search.trim() === "" ? {} : { search: query.search.trim() }),
  };
}

/** The measures, and the count of events after them where it is not one of them. */
export function aggregatesOf(query: Query): string[] {
  return query.measures.includes(EVENTS) ? [...query.measures] : [...query.measures, EVENTS];
}

/**
 * What series are computed of. The server keeps those that are first by the first of them: by
 * events, where nobody ordered otherwise, since what is rare is easily extreme.
 */
export function seriesAggregates(query: Query): string[] {
  if (query.group.length === 0) return aggregatesOf(query);
  const { by } = orderOf(query);
  const first = query.order !== "" && query.measures.includes(by) ? by : EVENTS;
  return [first, ...aggregatesOf(query).filter((it) => it !== first)];
}

/** Why a query cannot be compared with an earlier time; null if it can, or is not. */
export function compareProblem(query: Query, range: Range): string | null {
  if (query.compare === "" || query.view === "samples") return null;
  const shift = durationMs(query.compare) ?? 0;
  return range.to - range.from > shift
    ? `The time range is longer than ${query.compare}: pick a shorter one to compare.`
    : null;
}

function compareOf(query: Query, range: Range): Pick<QuerySpec, "compare"> {
  if (query.compare === "" || compareProblem(query, range)) return {};
  return { compare: { shift: query.compare } };
}

/** The time of a series: what is asked of it, and where its first bucket begins. */
export interface SeriesRange {
  readonly range: Range;
  readonly start: number;
  readonly bucket: string;
}

/**
 * The asked range, whose ends may cut buckets. Only where the comparison reaches no further back
 * than the range is long, it begins with the first whole bucket: no bucket can be on both sides.
 */
export function seriesRange({ query, range }: ResolvedQuery): SeriesRange {
  const bucket = bucketOf(query, range);
  const start = bucketStart(range.from, bucket);
  const shift = comparedShift(query, range);
  const next = start + (durationMs(bucket) ?? 0);
  if (shift === null || range.to - start <= shift || next >= range.to) {
    return { range, start, bucket };
  }
  return { range: { ...range, from: next }, start: next, bucket };
}

/** How much earlier the time is that a range is compared with; null if it is not compared. */
function comparedShift(query: Query, range: Range): number | null {
  const { compare } = compareOf(query, range);
  return compare ? durationMs(compare.shift) : null;
}

/** The earlier time that a query is compared with; null if it is with none. */
export function comparedRange({ query, range }: ResolvedQuery): Range | null {
  const shift = comparedShift(query, range);
  return shift === null ? null : { from: range.from - shift, to: range.to - shift };
}

/** The server compares whole buckets: what the range cuts off of the first ones is filtered. */
function cutFilters(resolved: ResolvedQuery, { range, start }: SeriesRange): string[] {
  const shift = comparedShift(resolved.query, range);
  if (shift === null || start === range.from) return [];
  const time = quoteName(resolved.columns.find((it) => it.is_time)?.name ?? "time");
  const at = (ms: number) => quoteText(isoText(ms));
  return [
    `${time} >= ${at(range.from - shift)}`,
    `(${time} < ${at(start)} OR ${time} >= ${at(range.from)})`,
  ];
}

/** Series over time: measures by group, the top series and the rest as "other". */
export function timeSpec(resolved: ResolvedQuery): QuerySpec {
  const { query } = resolved;
  const series = seriesRange(resolved);
  const { filter = [], ...rest } = base({ ...resolved, range: series.range });
  const filters = [...filter, ...cutFilters(resolved, series)];
  return {
    ...rest,
    ...(filters.length > 0 ? { filter: filters } : {}),
    bucket: series.bucket,
    group_by: [...query.group],
    aggregates: seriesAggregates(query),
    ...(query.group.length > 0 ? { series: query.series } : {}),
    ...compareOf(query, series.range),
  };
}

/** Rows of both sides that a compared table looks at. */
export const COMPARED_MOST = 20_000;

/** Groups and their measures. Compared groups are sorted and cut once both sides are joined. */
export function tableSpec(resolved: ResolvedQuery): QuerySpec {
  const { query, range } = resolved;
  const compared = compareOf(query, range);
  return {
    ...base(resolved),
    group_by: [...query.group],
    aggregates: aggregatesOf(query),
    order_by: [orderSql(query)],
    limit: compared.compare ? COMPARED_MOST : query.limit,
    ...compared,
  };
}

/** How many events there are in all. */
export function eventsSpec(resolved: ResolvedQuery): QuerySpec {
  return { ...base(resolved), aggregates: [EVENTS] };
}

/** What the table is sorted by, as it stands in the query or by itself. */
export function orderOf(query: Query): {
  by: string;
  ascending: boolean;
  /** By how much that changed; only of compared measures. */
  change: boolean;
} {
  const [, change, by = "", direction] = /^(change )?(.*?)( asc)?$/s.exec(query.order) ?? [];
  const changed = change !== undefined && query.compare !== "";
  const known = query.measures.includes(by) || (change === undefined && query.group.includes(by));
  return {
    by: known ? by : (query.measures[0] ?? EVENTS),
    ascending: known && direction !== undefined && (change === undefined || changed),
    change: known && changed,
  };
}

function orderSql(query: Query): string {
  const { by, ascending, change } = orderOf(query);
  // Changes are known once both sides are joined; until then the larger groups matter more.
  return `${by} ${ascending && !change ? "ASC NULLS LAST" : "DESC NULLS LAST"}`;
}

/** Raw rows, newest first. */
export function samplesSpec(resolved: ResolvedQuery, limit = resolved.query.limit): QuerySpec {
  return { ...base(resolved), limit: Math.min(limit, LIMIT_MAX) };
}

/** What the values of a number column are like: where they lie, how many there are. */
export function summarySpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const name = quoteName(column);
  const percentiles = ["p01", "p05", "p25", "p50", "p75", "p95", "p99"];
  const parts = percentiles.map((it) => `percentile(${name}, ${Number(it.slice(1))}) AS ${it}`);
  const ends = [`min(${name}) AS smallest`, `max(${name}) AS largest`, `avg(${name}) AS mean`];
  return {
    ...base(resolved),
    aggregates: [...ends, ...parts, `count(${name}) AS events`, `raw_count(${name}) AS samples`],
  };
}

/** Bars of a distribution at most. */
export const BARS_MAX = 60;

/**
 * Buckets to ask for of each side of a comparison. Those that fit the values of one side best need not
 * be those of the other; but as their widths are 1, 2 or 5 times a power of ten, buckets of which five
 * times as many may be are narrow enough to lie each in one bar of both.
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
  const { filter = [], ...rest } = base(resolved);
  const name = quoteName(column);
  const buckets = resolved.query.compare === "" ? BARS_MAX : BUCKETS_COMPARED;
  return {
    ...rest,
    filter: [...filter, `${name} BETWEEN ${low} AND ${high}`],
    aggregates: [`histogram(${name}, ${buckets}) AS spread`],
    ...compareOf(resolved.query, resolved.range),
  };
}

/** The most frequent values of a column under the query's filters. */
export function topValuesSpec(resolved: ResolvedQuery, column: string, limit: number): QuerySpec {
  return {
    ...base(resolved),
    group_by: [quoteName(column)],
    aggregates: [EVENTS],
    order_by: [`${EVENTS} DESC`],
    limit,
  };
}

/**
 * The most frequent values of a column that begin with a text in any letter case, of the rows that
 * the query is about but for what it asks of that column itself.
 */
export function valuesSpec(
  resolved: ResolvedQuery,
  column: Pick<Column, "name" | "type">,
  prefix: string,
  limit: number,
): QuerySpec {
  const filters = resolved.query.filters.filter((it) => it.column !== column.name);
  const spec = topValuesSpec(
    { ...resolved, query: { ...resolved.query, filters } },
    column.name,
    limit,
  );
  if (prefix === "") return spec;
  const name = quoteName(column.name);
  const text = column.type === "string" ? name : `CAST(${name} AS string)`;
  const pattern = quoteText(`${prefix.replace(/[\\%_]/g, "\\$&")}%`);
  return { ...spec, filter: [...(spec.filter ?? []), `${text} ILIKE ${pattern}`] };
}
