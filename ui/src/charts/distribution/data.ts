// From the answer of a histogram to bars: one grid for both sides of a comparison.

import type { Answer, Cell } from "../../api/types";

/** Bars of a distribution at most. */
export const BARS_MAX = 60;

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly before: number;
}

export interface Spread {
  readonly bars: Bar[];
  /** How many there are on each side. */
  readonly total: number;
  readonly totalBefore: number;
  readonly compared: boolean;
  /** Whether the axis is logarithmic. */
  readonly log?: boolean;
  /** Whether no bar contains its upper edge, not even the last one. */
  readonly halfOpen?: boolean;
}

/** A bar that is being filled. */
type Filling = { -readonly [Key in keyof Bar]: Bar[Key] };

interface Bucket {
  from: number;
  to: number;
  count: number;
}

/** The bars of a histogram's answer: one row, or one for each side. */
export function spreadOf(answer: Answer, joined = common): Spread {
  const compared = answer.columns[0]?.name === "side";
  const sideOf = (name: string) =>
    bucketsOf(answer.rows.find((row) => !compared || row[0] === name)?.at(-1) ?? null);
  const now = sideOf("now");
  const before = compared ? sideOf("before") : [];
  const sum = (buckets: Bucket[]) => buckets.reduce((total, { count }) => total + count, 0);
  const bars = compared
    ? joined(now, before)
    : now.map(({ from, to, count }) => ({ from, to, now: count, before: 0 }));
  return { bars, total: sum(now), totalBefore: sum(before), compared };
}

/** The bars of an answer whose edges were asked for: those of both sides are the same. */
export function spreadBetween(answer: Answer, log: boolean): Spread {
  const spread = spreadOf(answer, join);
  return { ...spread, log, halfOpen: true };
}

/** Both sides by the same edges. */
function join(now: Bucket[], before: Bucket[]): Filling[] {
  const bars = new Map<number, Filling>();
  const at = ({ from, to }: Bucket) => {
    const bar = bars.get(from) ?? { from, to, now: 0, before: 0 };
    bars.set(from, bar);
    return bar;
  };
  for (const bucket of now) at(bucket).now += bucket.count;
  for (const bucket of before) at(bucket).before += bucket.count;
  return [...bars.values()].sort((a, b) => a.from - b.from);
}

function bucketsOf(cell: Cell): Bucket[] {
  if (!Array.isArray(cell)) return [];
  return cell.flatMap((bucket) => {
    if (!Array.isArray(bucket)) return [];
    const [from, to, count] = bucket.map(toNumber);
    if (from === undefined || to === undefined || count === undefined) return [];
    return from <= to && Number.isFinite(count) ? [{ from, to, count }] : [];
  });
}

/** A number, digits in a text, or a time in milliseconds. */
function toNumber(value: number | string): number {
  const number = Number(value);
  return Number.isNaN(number) ? Date.parse(String(value)) : number;
}

/** How close two ends are that are the same, in widths. */
const NEAR = 1e-6;

/** Both sides over the narrowest bars of a round width that are few enough for all values. */
function common(now: Bucket[], before: Bucket[]): Filling[] {
  const all = [...now, ...before];
  const widest = Math.max(0, ...all.map(({ from, to }) => to - from));
  if (widest === 0) return points(now, before);
  const low = Math.min(...all.map(({ from }) => from));
  const high = Math.max(...all.map(({ to }) => to));
  const places = (width: number) => {
    const first = Math.floor(low / width + NEAR);
    return { first, last: Math.max(first, Math.ceil(high / width - NEAR) - 1) };
  };
  const fits = (width: number) => places(width).last - places(width).first < BARS_MAX;
  const width = roundWidths(Math.max(widest, (high - low) / BARS_MAX)).find(fits) ?? high - low;
  const { first, last } = places(width);
  const edge = (place: number) => Number((place * width).toFixed(decimalsOf(width)));
  const bars = Array.from({ length: last - first + 1 }, (_, at) => {
    return { from: edge(first + at), to: edge(first + at + 1), now: 0, before: 0 };
  });
  const add = (buckets: Bucket[], side: "now" | "before") => {
    for (const { from, to, count } of buckets) {
      // The middle of a bucket decides; a single value may be an edge.
      const place = Math.floor((from + to) / 2 / width + (from === to ? NEAR : 0));
      const bar = bars[Math.min(place, last) - first];
      if (bar) bar[side] += count;
    }
  };
  add(now, "now");
  add(before, "before");
  return bars;
}

/** The single values that each side has instead of buckets. */
function points(now: Bucket[], before: Bucket[]): Filling[] {
  const places = new Map<number, Filling>();
  const at = (value: number) => {
    const bar = places.get(value) ?? { from: value, to: value, now: 0, before: 0 };
    places.set(value, bar);
    return bar;
  };
  for (const { from, count } of now) at(from).now += count;
  for (const { from, count } of before) at(from).before += count;
  return [...places.values()].sort((a, b) => a.from - b.from);
}

/** Some widths of 1, 2 and 5 times a power of ten, the least of them about as wide as said. */
function roundWidths(least: number): number[] {
  const power = Math.floor(Math.log10(least));
  const widths = [0, 1, 2].flatMap((more) =>
    [1, 2, 5].map((it) => Number(`${it}e${power + more}`)),
  );
  return widths.filter((width) => width >= least * (1 - NEAR));
}

const decimalsOf = (width: number) =>
  Math.min(100, Math.max(0, -Math.floor(Math.log10(width) + NEAR)));
