// Where the middle of a column's values ends.

import { numberOf } from "../../api/client";
import type { Cell } from "../../api/types";

/** A percentile of many rows is known to 1 %; the rest is for rounding to a few digits. */
const SKETCH_SLACK = 0.011;

/**
 * Where the values that a percentile cuts off begin, at the latest: a value that many rows have may lie
 * a little beyond what a sketch says, and it is drawn whole or not at all. Never beyond `extreme`.
 */
export function cutOf(percentile: Cell, extreme: Cell, side: "low" | "high"): string {
  const [told, end] = [numberOf(percentile), numberOf(extreme)];
  if (told === null) return String(percentile);
  const grows = side === "high" ? told > 0 : told < 0;
  const wide = Number((told / (grows ? 1 - SKETCH_SLACK : 1 + SKETCH_SLACK)).toPrecision(4));
  const passed = end !== null && (side === "high" ? wide >= end : wide <= end);
  return String(passed ? extreme : wide);
}
