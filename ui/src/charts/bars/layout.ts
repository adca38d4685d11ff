// Where bars begin and end, in hundredths of the width.

import type { Mark } from "../marks";

/** The values that the left and the right edge stand for; zero is always within. */
export interface BarScale {
  readonly low: number;
  readonly high: number;
}

/** A scale that holds all values, those before as well. */
export function barScale(marks: readonly Mark[]): BarScale {
  let [low, high] = [0, 0];
  for (const { value, before } of marks) {
    for (const end of [value, before]) {
      if (end === null || !Number.isFinite(end)) continue;
      low = Math.min(low, end);
      high = Math.max(high, end);
    }
  }
  return low === high ? { low, high: low + 1 } : { low, high };
}

/** A bar from zero to the mark's value, and the place of the value before. */
export function barOf({ value, before }: Mark, { low, high }: BarScale) {
  const place = (at: number) => ((at - low) / (high - low)) * 100;
  const zero = place(0);
  const end = place(value !== null && Number.isFinite(value) ? value : 0);
  return {
    left: Math.min(zero, end),
    width: Math.abs(end - zero),
    before: before === null || !Number.isFinite(before) ? null : place(before),
  };
}

const USUAL = 18;
/** A bar is high enough for its text, and not a block. */
const [LEAST, MOST] = [14, 30];
/** What is above and below a bar, in pixels. */
const AROUND = 4;

/** The pixels that each of `count` bars is high if they share `height`. */
export function barHeight(count: number, height: number | undefined): number {
  if (height === undefined || count === 0) return USUAL;
  return Math.min(MOST, Math.max(LEAST, Math.floor(height / count) - AROUND));
}
