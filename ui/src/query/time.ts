// The time range: the query's texts as moments.

import type { Table } from "../api/types";
import { bucketFor, durationMs, durationText } from "../base/duration";
import type { Query } from "./query";

/** From (inclusive) to (exclusive), in milliseconds. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The lengths that are one click away. */
export const PRESETS = [
  "5m",
  "15m",
  "1h",
  "3h",
  "6h",
  "12h",
  "1d",
  "3d",
  "7d",
  "14d",
  "28d",
] as const;

const BUCKETS = 180;

/** Moments have a year of four digits: others have no text that the server reads. */
const FIRST = Date.parse("0001-01-01T00:00:00Z");
const LAST = Date.parse("9999-12-31T23:59:59Z");
const bounded = (ms: number) => Math.min(Math.max(ms, FIRST), LAST);

/** A moment as the server and the URL take it. */
export const isoText = (ms: number) => new Date(bounded(ms)).toISOString();

/** A moment in milliseconds: `now`, `-3h`, `now-1d`, Unix seconds or ISO 8601; null if it is none. */
export function moment(text: string, now: number): number | null {
  const ms = momentMs(text.trim(), now);
  return ms === null || ms !== bounded(ms) ? null : ms;
}

function momentMs(trimmed: string, now: number): number | null {
  if (trimmed === "now") return now;
  const [, sign, length] = /^(?:now)?([+-])(\S+)$/.exec(trimmed) ?? [];
  const shift = length === undefined ? null : durationMs(length);
  if (shift !== null) return sign === "-" ? now - shift : now + shift;
  if (/^-?\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000;
  const parsed = Date.parse(
    /\d[T ]\d/.test(trimmed) && !/(Z|[+-]\d\d:?\d\d)$/.test(trimmed) ? `${trimmed}Z` : trimmed,
  );
  return Number.isNaN(parsed) ? null : parsed;
}

/** The value of `from` for all of a table, its newest row included. */
export const ALL = "all";

/**
 * The range that a query means; null where its texts mean none. All of a table is a range only of a
 * table that is given and has rows.
 */
export function rangeOf(
  query: Pick<Query, "from" | "to">,
  now: number,
  table?: Table,
): Range | null {
  if (query.from === ALL) return table ? wholeOf(table, now) : null;
  const from = moment(query.from, now);
  const to = moment(query.to, now);
  return from === null || to === null || from >= to ? null : { from, to };
}

const LIVING_MS = 300_000;
const DAY_MS = 86_400_000;

/** Whether rows still come. */
const isLiving = (last: number, now: number) => last > now - LIVING_MS && last < now + 60_000;

/**
 * A range that holds data: the last day of a table whose rows still come and that is older than
 * that, all of any other. None of these becomes empty while the page is open, or the next minute.
 */
export function rangeWithData(table: Table, now: number): Pick<Query, "from" | "to"> {
  const first = table.first_time === null ? now : Date.parse(table.first_time);
  const last = table.last_time === null ? now : Date.parse(table.last_time);
  const isLong = isLiving(last, now) && now - first > DAY_MS;
  return isLong ? { from: "-1d", to: "now" } : FULL_RANGE;
}

/** The range of a query in a table; one that holds data where the query says none. */
export const rangeIn = (query: Pick<Query, "from" | "to">, table: Table, now: number): Range =>
  rangeOf(query, now, table) ??
  rangeOf(rangeWithData(table, now), now, table) ?? { from: now - 3_600_000, to: now };

/** A shorter time than this is hardly a picture. */
const SHORTEST = 60_000;

/** All of a table, its last row included. */
export const FULL_RANGE = { from: ALL, to: "now" } as const;

/** From a table's first row to its last, both included, or to now where rows still come. */
function wholeOf({ first_time, last_time }: Table, now: number): Range {
  if (first_time === null || last_time === null) return { from: now - DAY_MS, to: now };
  const [first, last] = [Date.parse(first_time), Date.parse(last_time)];
  // Around what is shorter, a minute.
  const room = Math.max(0, Math.floor((SHORTEST - (last + 1 - first)) / 2));
  return {
    from: first - room,
    to: isLiving(last, now) ? Math.max(last + 1, now) : last + 1 + room,
  };
}

const DAYS_MOST = 366;

/** Days are drawn as such up to a year, rather than as a few weeks. */
function automaticBucket({ from, to }: Range): string {
  const fits = bucketFor(to - from, BUCKETS);
  const isLong = (durationMs(fits) ?? 0) > DAY_MS;
  return isLong && (to - from) / DAY_MS <= DAYS_MOST ? "1d" : fits;
}

/** The length of the time buckets of a query over a range. */
export function bucketOf(query: Query, range: Range): string {
  const automatic = automaticBucket(range);
  if (query.bucket === "auto") return automatic;
  const tooMany = (range.to - range.from) / (durationMs(query.bucket) ?? 1) > 5000;
  return tooMany ? automatic : query.bucket;
}

/** The query with another fixed range. */
export function withRange(query: Query, range: Range): Query {
  return { ...query, from: isoText(range.from), to: isoText(range.to), bucket: "auto" };
}

/** The query with a range of the same length before (-1) or after (1), or twice as long (0). */
export function stepRange(query: Query, now: number, by: -1 | 0 | 1): Query {
  const range = rangeOf(query, now);
  if (!range) return query;
  const length = range.to - range.from;
  if (by === 0)
    return withRange(query, {
      from: range.from - length / 2,
      to: Math.max(range.to, Math.min(range.to + length / 2, now)),
    });
  return withRange(query, { from: range.from + by * length, to: range.to + by * length });
}

/** How often a live page asks, while answers are quick. */
export const LIVE_RATE = "2s";

/** The query asked again by itself; a fixed range gives way to the last so much time. */
export function goLive(query: Query, now: number, refresh: string): Query {
  const range = rangeOf(query, now);
  const later = rangeOf(query, now + 60_000);
  if (!range || range.to !== later?.to) return { ...query, refresh };
  const from = `-${durationText(Math.max(1000, range.to - range.from))}`;
  return { ...query, from, to: "now", bucket: "auto", refresh };
}
