// Confidence intervals of an answer's numbers.

import type { Answer } from "./types";

/** The ends between which a number is with 95 % confidence. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The interval of a value of an answer; `too_few` where its rows are too few for one; null where the
 * value has none, or none was asked for.
 */
export function intervalOf(
  { intervals }: Pick<Answer, "intervals">,
  row: number,
  column: number,
): Interval | "too_few" | null {
  const cell = intervals?.[row]?.[column] ?? null;
  if (cell === null || cell === "too_few") return cell;
  if (!Array.isArray(cell)) return { low: Number(cell.low), high: Number(cell.high) };
  const [low, high] = cell.map(Number);
  return low === undefined || high === undefined || !(low <= high) ? null : { low, high };
}
