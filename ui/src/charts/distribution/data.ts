// From the answer of a histogram to bars: one grid for both sides of a comparison.

import type { Answer, Cell } from "../../api/types";

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
  /** Whether the sides had buckets of different lengths, so that one was spread over the other's. */
  readonly approximate: boolean;
}

interface Bucket {
  from: number;
  to: number;
  count: number;
}

/** The bars of a histogram's answer: one row, or one for each side. */
export function spreadOf(answer: Answer): Spread {
  const compared = answer.columns.length > 1;
  const sideOf = (name: string) =>
    bucketsOf(answer.rows.find((row) => !compared || row[0] === name)?.at(-1) ?? null);
  const now = sideOf("now");
  const before = compared ? sideOf("before") : [];
  const sum = (buckets: Bucket[]) => buckets.reduce((total, { count }) => total + count, 0);
  const { grid, approximate } = gridOf(now, before);
  const nows = spreadOver(now, grid);
  const befores = spreadOver(before, grid);
  const bars = grid.map(({ from, to }, at) => ({
    from,
    to,
    now: nows[at] ?? 0,
    before: befores[at] ?? 0,
  }));
  return { bars, total: sum(now), totalBefore: sum(before), compared, approximate };
}

function bucketsOf(cell: Cell): Bucket[] {
  if (!Array.isArray(cell)) return [];
  return cell.flatMap((bucket) => {
    if (!Array.isArray(bucket)) return [];
    const [from, to, count] = bucket.map(placeOf);
    if (from === undefined || to === undefined || count === undefined) return [];
    return from <= to && Number.isFinite(count) ? [{ from, to, count }] : [];
  });
}

/** A number, digits in a text, or a time in milliseconds. */
function placeOf(value: number | string): number {
  const number = Number(value);
  return Number.isNaN(number) ? Date.parse(String(value)) : number;
}

const close = (a: number, b: number, width: number) => Math.abs(a - b) < width * 1e-6;
const widthOf = (buckets: Bucket[]) => (buckets[0] ? buckets[0].to - buckets[0].from : 0);

/** The single values that each side has instead of buckets. */
function points(now: Bucket[], before: Bucket[]): Bucket[] {
  const places = new Map([...now, ...before].map((it) => [it.from, it]));
  return [...places.values()].sort((a, b) => a.from - b.from);
}

function gridOf(now: Bucket[], before: Bucket[]) {
  if (widthOf(now) === 0 && widthOf(before) === 0)
    return { grid: points(now, before), approximate: false };
  const coarse = widthOf(now) >= widthOf(before) ? now : before;
  const fine = coarse === now ? before : now;
  const width = widthOf(coarse);
  const approximate = fine.length > 0 && !close(widthOf(fine), width, width);
  const grid = [...coarse];
  const low = fine[0]?.from ?? Number.POSITIVE_INFINITY;
  const high = fine.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  for (let first = grid[0]; first && first.from - low > width * 1e-6; first = grid[0]) {
    grid.unshift({ from: first.from - width, to: first.from, count: 0 });
    if (grid.length > 1000) break;
  }
  for (let last = grid.at(-1); last && high - last.to > width * 1e-6; last = grid.at(-1)) {
    grid.push({ from: last.to, to: last.to + width, count: 0 });
    if (grid.length > 2000) break;
  }
  return { grid, approximate };
}

/** Counts over another grid: as they are where buckets are the same, else by how much overlaps. */
function spreadOver(buckets: Bucket[], grid: Bucket[]): number[] {
  const counts = new Array<number>(grid.length).fill(0);
  let at = 0;
  for (const { from, to, count } of buckets) {
    const width = to - from;
    const passed = (cell: Bucket | undefined) =>
      width === 0 ? (cell?.to ?? 0) < from : (cell?.to ?? 0) <= from + width * 1e-6;
    while (at < grid.length - 1 && passed(grid[at])) at++;
    for (let place = at; place < grid.length; place++) {
      const cell = grid[place];
      if (!cell || (place > at && cell.from >= to - width * 1e-6)) break;
      const overlap = Math.min(to, cell.to) - Math.max(from, cell.from);
      const share = width === 0 ? 1 : overlap / width;
      counts[place] = (counts[place] ?? 0) + count * (share > 0.999999 ? 1 : Math.max(0, share));
    }
  }
  return counts;
}
