// The range that holds the middle 98 % of a column's values.

import { numberOf } from "../../api/client";
import type { Cell } from "../../api/types";

/** A percentile of many rows is known to 1 %; the rest is for rounding to a few digits. */
const SKETCH_SLACK = 0.011;

/**
 * A percentile widened by the error of its sketch, but not beyond `extreme`. A frequent value near the
 * percentile is therefore drawn with all of its rows.
 */
export function percentileBound(percentile: Cell, extreme: Cell, side: "low" | "high"): string {
  const [estimate, end] = [numberOf(percentile), numberOf(extreme)];
  if (estimate === null) return String(percentile);
  const grows = side === "high" ? estimate > 0 : estimate < 0;
  const wide = Number((estimate / (grows ? 1 - SKETCH_SLACK : 1 + SKETCH_SLACK)).toPrecision(4));
  const isBeyond = end !== null && (side === "high" ? wide >= end : wide <= end);
  return String(isBeyond ? extreme : wide);
}
