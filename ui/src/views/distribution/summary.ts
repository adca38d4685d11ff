// The statistics of a number column as the answer to `summarySpec` has them, now and before.

import { numberOf } from "../../api/client";
import type { Answer, Cell } from "../../api/types";
import { columnIndex, sides } from "../../explore/answers";
import type { EndsOfValues } from "./edges";
import { percentileBound } from "./percentileBounds";

/** The cells of one side by the names of the statistics. */
export type Statistics = (name: string) => Cell;

const PERCENTILE = /^p\d+$/;

/** An estimate of whole numbers is whole, too: 5, not 5.031. */
const wholeOf = (cell: Cell): Cell => (typeof cell === "number" ? Math.round(cell) : cell);

/** The statistics of each side; `before` is null where nothing is compared. */
export function statisticsOf(answer: Answer): { now: Statistics; before: Statistics | null } {
  const { now, before } = sides(answer);
  const reader = (row: Cell[] | undefined): Statistics => {
    const cell = (name: string) => row?.[columnIndex(answer, name)] ?? null;
    const whole = cell("whole") === true;
    return (name) => (whole && PERCENTILE.test(name) ? wholeOf(cell(name)) : cell(name));
  };
  return { now: reader(now[0]?.[0]), before: before ? reader(before[0]?.[0]) : null };
}

/** The values between which is drawn, with all their digits; null where there are none. */
export interface Bounds {
  readonly least: string;
  readonly most: string;
  readonly values: EndsOfValues;
}

/** The bounds of both sides: all values, or the middle 98 % of each side. */
export function boundsOf(answer: Answer, full: boolean): Bounds | null {
  const { now, before } = statisticsOf(answer);
  const all = (before ? [now, before] : [now]).flatMap((cell) => {
    const [smallest, largest] = [cell("smallest"), cell("largest")];
    const ends = full
      ? [String(smallest), String(largest)]
      : [
          percentileBound(cell("p01"), smallest, "low"),
          percentileBound(cell("p99"), largest, "high"),
        ];
    const [low, high] = ends.map(numberOf);
    return low == null || high == null ? [] : [{ ends, low, high, cell }];
  });
  const [first] = all;
  if (!first) return null;
  const lowest = all.reduce((a, b) => (b.low < a.low ? b : a));
  const highest = all.reduce((a, b) => (b.high > a.high ? b : a));
  const values = {
    low: lowest.low,
    high: highest.high,
    p50: numberOf(first.cell("p50")),
    p99: numberOf(first.cell("p99")),
    whole: all.every(({ cell }) => cell("whole") === true),
  };
  return { least: lowest.ends[0] ?? "", most: highest.ends[1] ?? "", values };
}
