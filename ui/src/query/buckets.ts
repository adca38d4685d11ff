// The time buckets of a query, as the server cuts them: hours and days are those of a wall clock.

import { durationMs } from "../base/duration";
import { zoned } from "../base/zone";
import type { Range } from "./time";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The epoch was a Thursday; whole weeks begin on a Monday. */
const MONDAY_MS = 4 * DAY_MS;

/** Whether buckets of a length begin when a wall clock shows a certain time (spec/sql.md). */
const isOfWallClock = (step: number) =>
  step % DAY_MS === 0 || (step % HOUR_MS === 0 && DAY_MS % step === 0);

/**
 * The moment at which the wall clock shows `wall`: of an hour that comes twice the first or the
 * second one, of a skipped hour as before the change.
 */
function momentOf(wall: number, zone: string, which: "first" | "second" = "first"): number {
  const offset = (at: number) => zoned(at, zone) - at;
  const [first, second] = [wall - offset(wall - DAY_MS), wall - offset(wall + DAY_MS)];
  const [one, other] = which === "first" ? [first, second] : [second, first];
  return [one, other].find((at) => zoned(at, zone) === wall) ?? first;
}

const floored = (ms: number, step: number) => {
  const origin = step % WEEK_MS === 0 ? MONDAY_MS : 0;
  return Math.floor((ms - origin) / step) * step + origin;
};

/** The start of the bucket that contains a moment; `zone` is an IANA name. */
export function bucketStart(ms: number, bucket: string, zone = "UTC"): number {
  const step = durationMs(bucket) || 1000;
  if (zone === "UTC" || !isOfWallClock(step)) return floored(ms, step);
  const wall = zoned(ms, zone);
  // An hour that comes twice has two buckets.
  if (step === HOUR_MS) return floored(wall, step) - (wall - ms);
  return momentOf(floored(wall, step), zone);
}

/** Buckets that follow each other without gaps. */
export interface Buckets {
  /** Where each begins, in milliseconds, ascending; one at least. */
  readonly starts: readonly number[];
  /** Where the last one ends. */
  readonly end: number;
}

/** The buckets of a range, the first of which contains the range's start. */
export function bucketsOf({ from, to }: Range, bucket: string, zone = "UTC"): Buckets {
  const step = durationMs(bucket) || 1000;
  const first = bucketStart(from, bucket, zone);
  if (zone === "UTC" || step <= HOUR_MS || !isOfWallClock(step)) {
    const count = Math.max(1, Math.ceil((to - first) / step));
    return {
      starts: Array.from({ length: count }, (_, at) => first + at * step),
      end: first + count * step,
    };
  }
  const starts = [first];
  for (let wall = zoned(first, zone) + step; ; wall += step) {
    const at = momentOf(wall, zone);
    if (at >= to) return { starts, end: at };
    starts.push(at);
  }
}

/** The bucket that contains a moment; -1 if none does. */
export function bucketAt({ starts, end }: Buckets, ms: number): number {
  if (!(ms < end)) return -1;
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A moment some time earlier; whole days earlier, the wall clock shows the same time. */
export function earlier(ms: number, shift: number, zone = "UTC"): number {
  if (zone === "UTC" || shift % DAY_MS !== 0) return ms - shift;
  return momentOf(zoned(ms, zone) - shift, zone, "second");
}

/**
 * The shortest shift by whole buckets that is as long as from `start`, where one begins, to `to`.
 * Where hours of a wall clock make a bucket, it is whole days: other shifts could cut buckets.
 */
export function wholeBuckets(start: number, to: number, bucket: string, zone = "UTC"): number {
  const step = durationMs(bucket) || 1000;
  if (zone === "UTC" || step <= HOUR_MS || !isOfWallClock(step)) {
    return Math.ceil((to - start) / step) * step;
  }
  const unit = Math.max(step, DAY_MS);
  return Math.ceil((zoned(to, zone) - zoned(start, zone)) / unit) * unit;
}
