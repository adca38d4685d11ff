// A measure: an aggregate of SQL that a query computes, most often a function of one column.

import type { Column } from "../api/types";
import { type Unit, unitOfColumn } from "../base/units";
import { aliasOf, columnOf, quoteName, withoutAlias } from "./sql";

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
  const [, fn, inner] = /^([a-z_0-9]+)\((.*)\)$/.exec(withoutAlias(text)) ?? [];
  const column = inner === undefined ? null : columnOf(inner);
  return fn === undefined || column === null ? null : { fn, column };
}

/** Whether it is a sum, which of nothing is nothing. */
export const isSum = (text: Measure): boolean => measureParts(text)?.fn === "sum";

/** Whether it is divided by the time that it is of. */
export const isRate = (text: Measure): boolean =>
  /^per_(second|minute|hour)\((?:[^()]|\([^()]*\))*\)$/i.test(withoutAlias(text));

const RATE_SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600 };

/** A measure of a comparison without buckets. A rate is divided by the seconds of the range. */
export function comparable(text: Measure, range: { from: number; to: number }): Measure {
  const [, unit = "", inner] =
    /^per_(second|minute|hour)\((.*)\)$/is.exec(withoutAlias(text)) ?? [];
  const seconds = RATE_SECONDS[unit.toLowerCase()];
  if (inner === undefined || seconds === undefined || !isRate(text)) return text;
  return `${inner} / ${(range.to - range.from) / 1000 / seconds}`;
}

/** Whether a bucket without rows is zero rather than unknown. */
export function isAdditive(text: Measure): boolean {
  if (/^(raw_)?count\(\*\)$/.test(withoutAlias(text))) return true;
  const fn = measureParts(text)?.fn;
  return FUNCTIONS.some(({ name, additive }) => name === fn && additive);
}

/** Whether it is estimated from a sketch, so that small changes of it may be none. */
export function isEstimated(text: Measure): boolean {
  return /^\s*(p\d+|median|percentile(_cont|_disc)?|quantile(_cont|_disc)?|approx_percentile)\s*\(/i.test(
    text,
  );
}

/** A measure in the words of people: `events`, `p95 of latency_us`. */
export function measureLabel(text: Measure): string {
  const alias = aliasOf(text);
  if (alias !== null) return alias;
  const trimmed = text.trim();
  if (trimmed === "count(*)") return "events";
  if (trimmed === "raw_count(*)") return "rows";
  const parts = measureParts(text);
  const [, rate] = /^per_second\((.*)\)$/s.exec(trimmed) ?? [];
  if (rate !== undefined) return `${measureLabel(rate)} per second`;
  const condition = shareOf(text);
  if (condition !== null) return `share where ${condition}`;
  if (!parts) return trimmed;
  const names: Record<string, string> = { approx_count_distinct: "distinct count", p999: "p99.9" };
  const name = names[parts.fn] ?? parts.fn;
  return parts.fn === "count" ? `non-null ${parts.column}` : `${name} of ${parts.column}`;
}

/** The measure for how large a share of the rows meets a condition of SQL. */
export const share = (condition: string): Measure => `avg(${condition.trim()})`;

/** What can only be true or false: a comparison, or a test that ends in a word of SQL. */
const CONDITION = /[<>=~]|\b(is|in|like|ilike|between|not)\b|^(contains|starts_with|ends_with)\(/i;

/** The condition whose share of the rows is measured; null for any other measure. */
export function shareOf(text: Measure): string | null {
  const [, inner] = /^avg\((.*)\)$/is.exec(withoutAlias(text)) ?? [];
  if (inner === undefined || columnOf(inner) !== null || !isOneExpression(inner)) return null;
  return CONDITION.test(withoutQuoted(inner)) ? inner.trim() : null;
}

const withoutQuoted = (text: string) => text.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, " ");

/** Whether no parenthesis is closed that is not opened in the text: `a) + avg(b` is two. */
function isOneExpression(text: string): boolean {
  let depth = 0;
  for (const letter of withoutQuoted(text)) {
    if (letter === "(") depth++;
    if (letter === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

/** Functions whose value has the unit of their column. */
const KEEPS_UNIT = /^(avg|sum|min|max|stddev|median|p\d+)$/;

/** The unit of a measure: that of its column, a share, or a rate; null for none. */
export function measureUnit(text: Measure, columns: readonly Column[]): Unit | null {
  if (shareOf(text) !== null) return "share";
  if (/^per_second\(/i.test(text.trim()) && isRate(text)) return "per second";
  const parts = measureParts(text);
  return parts && KEEPS_UNIT.test(parts.fn) ? unitOfColumn(columns, parts.column) : null;
}
