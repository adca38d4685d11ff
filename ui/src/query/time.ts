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

/** The range that a query means; null where its texts mean none. */
export function rangeOf(query: Query, now: number): Range | null {
  const from = moment(query.from, now);
  const to = moment(query.to, now);
  return from === null || to === null || from >= to ? null : { from, to };
}

/**
 * A range that holds data: the shortest usual one until now for a table whose rows still come, else
 * from its first row to its last. At most a day of a living table.
 */
export function rangeWithData(table: Table, now: number): Pick<Query, "from" | "to"> {
  const first = table.first_time === null ? now : Date.parse(table.first_time);
  const last = table.last_time === null ? now : Date.parse(table.last_time);
  if (last > now - 300_000 && last < now + 60_000) {
    const reach = PRESETS.find((preset) => now - first <= (durationMs(preset) ?? 0));
    return { from: `-${atMostADay(reach ?? "1d")}`, to: "now" };
  }
  return around(first, last);
}

/** A shorter time than this is hardly a picture. */
const SHORTEST = 60_000;

/** From a first moment to a last one, both included; around what is shorter, a minute. */
function around(first: number, last: number): Pick<Query, "from" | "to"> {
  const room = Math.max(0, Math.floor((SHORTEST - (last + 1 - first)) / 2));
  return { from: isoText(first - room), to: isoText(last + 1 + room) };
}

const atMostADay = (length: string) => ((durationMs(length) ?? 0) > 86_400_000 ? "1d" : length);

/** All of a table, its last row included. */
export function fullRange(table: Table): Pick<Query, "from" | "to"> {
  if (table.first_time === null || table.last_time === null) return { from: "-1d", to: "now" };
  return around(Date.parse(table.first_time), Date.parse(table.last_time));
}

/** The length of the time buckets of a query over a range. */
export function bucketOf(query: Query, range: Range): string {
  const automatic = bucketFor(range.to - range.from, BUCKETS);
  if (query.bucket === "auto") return automatic;
  const tooMany = (range.to - range.from) / (durationMs(query.bucket) ?? 1) > 5000;
  return tooMany ? automatic : query.bucket;
}

/** The start of the bucket that contains a moment. */
export function bucketStart(ms: number, bucket: string): number {
  const step = durationMs(bucket) || 1000;
  // Whole weeks begin on a Monday, as the server's do; the epoch was a Thursday.
  const origin = step % 604_800_000 === 0 ? 4 * 86_400_000 : 0;
  return Math.floor((ms - origin) / step) * step + origin;
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

/** The query asked again by itself; a fixed range gives way to the last so much time. */
export function goLive(query: Query, now: number, refresh: string): Query {
  const range = rangeOf(query, now);
  const later = rangeOf(query, now + 60_000);
  if (!range || range.to !== later?.to) return { ...query, refresh };
  const from = `-${durationText(Math.max(1000, range.to - range.from))}`;
  return { ...query, from, to: "now", bucket: "auto", refresh };
}
