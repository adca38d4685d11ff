// The line of a number's course, without axes.

import type { Values } from "../../charts/time-series/data";

/** A path through values, on a scale that holds all of these lists of values and zero. */
export function sparkPath(
  values: Values,
  all: readonly Values[],
  width: number,
  height: number,
): string {
  let [low, high] = [0, 0];
  for (const value of all.flat()) {
    low = Math.min(low, value ?? 0);
    high = Math.max(high, value ?? 0);
  }
  const tall = high > low ? high - low : 1;
  const wide = Math.max(1, values.length - 1);
  let pen = "M";
  const parts: string[] = [];
  values.forEach((value, at) => {
    if (value === null) {
      pen = "M";
      return;
    }
    const x = (at / wide) * width;
    const y = 2 + (height - 4) * (1 - (value - low) / tall);
    parts.push(`${pen}${x.toFixed(1)} ${y.toFixed(1)}`);
    pen = "L";
  });
  return parts.join("");
}
