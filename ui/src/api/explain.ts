// What distinguishes two sides of a comparison, as the server says it.

import type { Cell, Coverage, Warning } from "./types";

/** A number of the selection, and the same of the baseline. */
export interface OfSides {
  selection: number;
  baseline: number;
}

/** A condition on one column. */
export interface Condition {
  column: string;
  test: "is" | "has" | "within" | "missing";
  /** Of `is` and `has`. */
  value?: Cell;
  /** Of `within`: the lower end, inclusive, and the upper end, exclusive; null if open. */
  from?: number | string | null;
  to?: number | string | null;
  sql: string;
}

/** Conditions that the selection meets more often: one, or two together. */
export interface Difference {
  conditions: Condition[];
  /** Further conditions that its rows meet as well. */
  also: Condition[];
  events: OfSides;
  /** From 0 to 1. */
  shares: OfSides;
  lift: number | null;
  score: number;
  chance: number;
}

export interface Explanation {
  events: OfSides;
  findings: Difference[];
  columns: string[];
  tried: number;
  coverage: Coverage;
  warnings: Warning[];
}

/** The sides: a condition against another one or the rest, or a time against an earlier one. */
export type SidesOf = { where: string; against?: string } | { shift: string };
