// What a facet draws beside its answer: parts of a whole that answers the same question, and rows
// that keep their places while somebody points at them.

import { useRef } from "react";
import type { Answer } from "../../api/types";
import type { Measure } from "../../query/measure";
import { type FacetRow, inOrder, keyOf } from "./facetRows";

/** What all rows come to by each measure of the head; null where the answer does not say it yet. */
export type Totals = (measure: Measure) => number | null;

/**
 * What the values of an answer sum up to, so that parts can be shown; null while it is not known.
 * An older answer keeps the whole that it had: parts are never of another question's whole.
 */
export function useWhole(answer: Answer | undefined, isOld: boolean, whole: number | null) {
  const last = useRef<{ of: Answer; whole: number } | null>(null);
  if (answer && !isOld && whole !== null) last.current = { of: answer, whole };
  return last.current?.of === answer ? (last.current?.whole ?? null) : null;
}

/** Rows in the order that they had when `isHeld` became true, those that are new behind them. */
export function useHeldOrder(rows: FacetRow[], isHeld: boolean): FacetRow[] {
  const order = useRef<readonly string[]>([]);
  const shown = isHeld ? inOrder(rows, order.current) : rows;
  order.current = shown.map(keyOf);
  return shown;
}
