// From the query to the requests of the page. The requests of a view are in the view's folder.

import type { Column, QuerySpec } from "../api/types";
import { durationMs, durationText } from "../base/duration";
import { bucketStart, bucketsOf, earlier, wholeBuckets } from "./buckets";
import { filterSql, typeOf } from "./filter";
import { PREVIOUS, type Query } from "./query";
import { quoteName, quoteText } from "./sql";
import { bucketOf, isoText, type Range } from "./time";

/** The rows that a query is about, with what is known when it is asked. */
export interface ResolvedRows {
  readonly query: Pick<Query, "table" | "define" | "filters" | "search" | "where">;
  readonly columns: readonly Column[];
  readonly range: Range;
  /** The IANA name of the zone whose calendar cuts days and hours; UTC if it is absent. */
  readonly zone?: string;
}

/** A query with what is known when it is asked. */
export interface ResolvedQuery extends ResolvedRows {
  readonly query: Query;
}

/** In every grouped answer, so that the coverage corner can show events and stored rows. */
export const EVENTS = "count(*)";

/** The rows that a query is about: its table, range, filters and search. */
export function baseSpec({ query, columns, range, zone = "UTC" }: ResolvedRows): QuerySpec {
  const filter = query.filters.map((it) => filterSql(it, typeOf(columns, it.column)));
  if (query.where.trim() !== "") filter.push(query.where.trim());
  return {
    table: query.table,
    ...(query.define.length > 0 ? { define: query.define } : {}),
    from: isoText(range.from),
    to: isoText(range.to),
    ...(zone === "UTC" ? {} : { time_zone: zone }),
    ...(filter.length > 0 ? { filter } : {}),
    ...(query.search.trim() === "" ? {} : { search: query.search.trim() }),
  };
}

/** The measures, and the count of events after them where it is not one of them. */
export function aggregatesOf(query: Query): string[] {
  return query.measures.includes(EVENTS) ? [...query.measures] : [...query.measures, EVENTS];
}

/**
 * The aggregates of a series. The server keeps the top series by the first aggregate: the number of
 * events unless the query has an order, since rare groups often have extreme values.
 */
export function seriesAggregates(query: Query): string[] {
  if (query.group.length === 0) return aggregatesOf(query);
  const { by } = orderOf(query);
  const first = query.order !== "" && query.measures.includes(by) ? by : EVENTS;
  return [first, ...aggregatesOf(query).filter((it) => it !== first)];
}

/** Why a query cannot be compared with an earlier time; null if it can, or is not. */
export function compareProblem({ query, range, zone }: ResolvedQuery): string | null {
  if (query.compare === "" || query.compare === PREVIOUS) return null;
  return overlaps(range.from, range.to, durationMs(query.compare) ?? 0, zone)
    ? `The time range is longer than ${query.compare}: pick a shorter one, or compare with the previous period.`
    : null;
}

/** Whether a range reaches into the one that is as long, and earlier by a shift. */
const overlaps = (from: number, to: number, shift: number, zone?: string) =>
  to - from > shift && earlier(to, shift, zone) > from;

/** The comparison of a query over its range; nothing if there is none. */
export function compareOf(resolved: ResolvedQuery): Pick<QuerySpec, "compare"> {
  const { query } = resolved;
  if (query.compare === "" || compareProblem(resolved)) return {};
  const shift = query.compare === PREVIOUS ? durationText(previousShift(resolved)) : query.compare;
  return { compare: { shift } };
}

/**
 * How much earlier the previous period is, in milliseconds: as long as the range, and up to two
 * buckets more. The server shifts by whole buckets, and no bucket can be on both sides.
 */
function previousShift({ query, range, zone }: ResolvedQuery): number {
  const bucket = bucketOf(query, range);
  return wholeBuckets(bucketStart(range.from, bucket, zone), range.to, bucket, zone);
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
export function seriesRange(resolved: ResolvedQuery): SeriesRange {
  const { query, range, zone } = resolved;
  const bucket = bucketOf(query, range);
  const { starts, end } = bucketsOf(range, bucket, zone);
  const [start = range.from, next = end] = starts;
  const shift = comparedShift(resolved);
  if (shift === null || !overlaps(start, range.to, shift, zone) || next >= range.to) {
    return { range, start, bucket };
  }
  return { range: { ...range, from: next }, start: next, bucket };
}

/** How much earlier the time is that a range is compared with; null if it is not compared. */
export function comparedShift(resolved: ResolvedQuery): number | null {
  const { compare } = compareOf(resolved);
  return compare ? durationMs(compare.shift) : null;
}

/** The earlier time that a query is compared with; null if it is with none. */
export function comparedRange(resolved: ResolvedQuery): Range | null {
  const { range, zone } = resolved;
  const shift = comparedShift(resolved);
  if (shift === null) return null;
  return { from: earlier(range.from, shift, zone), to: earlier(range.to, shift, zone) };
}

/** What the table is sorted by, as it stands in the query or by itself. */
export function orderOf(query: Pick<Query, "group" | "measures" | "order" | "compare">): {
  by: string;
  ascending: boolean;
  /** By how much that changed; only of compared measures. */
  change: boolean;
} {
  const [, change, by = "", direction] = /^(change )?(.*?)( asc)?$/s.exec(query.order) ?? [];
  const changed = change !== undefined && query.compare !== "";
  const isSortable =
    query.measures.includes(by) || (change === undefined && query.group.includes(by));
  return {
    by: isSortable ? by : (query.measures[0] ?? EVENTS),
    ascending: isSortable && direction !== undefined && (change === undefined || changed),
    change: isSortable && changed,
  };
}

/** The most frequent values of a column under the query's filters. */
export function topValuesSpec(resolved: ResolvedRows, column: string, limit: number): QuerySpec {
  return {
    ...baseSpec(resolved),
    group_by: [quoteName(column)],
    aggregates: [EVENTS],
    order_by: [`${EVENTS} DESC`],
    limit,
  };
}

/**
 * The most frequent values of a column that contain a text in any letter case, of the rows that the
 * query is about but for what it asks of that column itself.
 */
export function valuesSpec(
  resolved: ResolvedRows,
  column: Pick<Column, "name" | "type">,
  part: string,
  limit: number,
): QuerySpec {
  const filters = resolved.query.filters.filter((it) => it.column !== column.name);
  const spec = topValuesSpec(
    { ...resolved, query: { ...resolved.query, filters } },
    column.name,
    limit,
  );
  if (part === "") return spec;
  const name = quoteName(column.name);
  const text = column.type === "string" ? name : `CAST(${name} AS string)`;
  const pattern = quoteText(`%${part.replace(/[\\%_]/g, "\\$&")}%`);
  return { ...spec, filter: [...(spec.filter ?? []), `${text} ILIKE ${pattern}`] };
}
