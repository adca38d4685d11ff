// A measure: an aggregate of SQL that a query computes, most often a function of one column.

import type { Column } from "../api/types";
import { columnOf, quoteName } from "./sql";

/** An aggregate as SQL: `count(*)`, `p95(latency_us)`, or anything else that SQL takes. */
export type Measure = string;

export interface MeasureFunction {
  name: string;
  label: string;
  /** Whether it adds up: a bucket without rows is zero, and parts sum up to the whole. */
  additive: boolean;
  fits: (column: Column) => boolean;
}

const isNumber = (column: Column) => column.type === "number" || column.type === "bool";
const isAny = () => true;

/** The functions that the picker offers, in its order. */
export const FUNCTIONS: readonly MeasureFunction[] = [
  { name: "avg", label: "average", additive: false, fits: isNumber },
  { name: "sum", label: "sum", additive: true, fits: isNumber },
  { name: "p50", label: "median", additive: false, fits: isNumber },
  { name: "p90", label: "90th percentile", additive: false, fits: isNumber },
  { name: "p95", label: "95th percentile", additive: false, fits: isNumber },
  { name: "p99", label: "99th percentile", additive: false, fits: isNumber },
  { name: "p999", label: "99.9th percentile", additive: false, fits: isNumber },
  { name: "stddev", label: "standard deviation", additive: false, fits: isNumber },
  { name: "min", label: "min", additive: false, fits: isAny },
  { name: "max", label: "max", additive: false, fits: isAny },
  { name: "approx_count_distinct", label: "distinct count", additive: false, fits: isAny },
  { name: "count", label: "count of non-null", additive: true, fits: isAny },
];

/** The aggregate of a function over a column. */
export const measure = (fn: string, column: string): Measure => `${fn}(${quoteName(column)})`;

/** The function and the column of a measure of that form; null for any other. */
export function measureParts(text: Measure): { fn: string; column: string } | null {
  const [, fn, inner] = /^([a-z_0-9]+)\((.*)\)$/.exec(text.trim()) ?? [];
  const column = inner === undefined ? null : columnOf(inner);
  return fn === undefined || column === null ? null : { fn, column };
}

/** Whether it is a sum, which of nothing is nothing. */
export const isSum = (text: Measure): boolean => measureParts(text)?.fn === "sum";

/** Whether it is divided by the time that it is of. */
export const isRate = (text: Measure): boolean =>
  /^per_(second|minute|hour)\((?:[^()]|\([^()]*\))*\)$/i.test(text.trim());

/** Whether a bucket without rows is zero rather than unknown. */
export function isAdditive(text: Measure): boolean {
  if (/^(raw_)?count\(\*\)$/.test(text.trim())) return true;
  const fn = measureParts(text)?.fn;
  return FUNCTIONS.some(({ name, additive }) => name === fn && additive);
}

/** Whether it is estimated from a sketch, so that small changes of it may be none. */
export function isEstimated(text: Measure): boolean {
  return /^\s*(p\d+|median|percentile(_cont|_disc)?|quantile(_cont|_disc)?|approx_percentile)\s*\(/i.test(
    text,
  );
}

/** A measure as people read it: `events`, `p95 of latency_us`. */
export function measureLabel(text: Measure): string {
  const trimmed = text.trim();
  if (trimmed === "count(*)") return "events";
  if (trimmed === "raw_count(*)") return "rows";
  const parts = measureParts(text);
  if (!parts) return trimmed;
  const names: Record<string, string> = { approx_count_distinct: "distinct count", p999: "p99.9" };
  const name = names[parts.fn] ?? parts.fn;
  return parts.fn === "count" ? `non-null ${parts.column}` : `${name} of ${parts.column}`;
}
