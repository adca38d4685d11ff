// Which columns describe unfamiliar rows best.

import { numberOf } from "../api/client";
import type { Answer, Column } from "../api/types";
import type { Query } from "../query/query";

/** The columns whose top values describe the rows best, best first. */
export function rankColumns(columns: readonly Column[], query: Query, most: number): Column[] {
  const fixed = new Set(
    query.filters
      .filter((it) => it.operator === "=" && it.values.length === 1)
      .map((it) => it.column),
  );
  return columns
    .filter((column) => !fixed.has(column.name))
    .map((column): [Column, number] => [column, informationScore(column)])
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([column]) => column);
}

/** A ranking from a few rows, used until statistics are loaded: columns with repeated values. */
export function rankByRepetition(rows: Answer, query: Query, most: number): Column["name"][] {
  const fixed = new Set(query.filters.map((it) => it.column));
  return rows.columns
    .map(({ name, type }, at): [string, number] => {
      const values = rows.rows.map((row) => row[at]).filter((cell) => cell !== null);
      const different = new Set(values).size;
      const usual = (type === "string" || type === "bool") && !fixed.has(name);
      const tells = usual && values.length > 3 && different < values.length * 0.8;
      return [name, tells ? values.length / different : 0];
    })
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([name]) => name);
}

/** From 0 (all the same, all different, or hardly there) to 1. */
function informationScore(column: Column): number {
  const distinct = numberOf(column.distinct) ?? 0;
  if (column.is_time || distinct < 2 || column.name === "sample_rate") return 0;
  const there = 1 - (column.null_fraction ?? 0);
  if (column.type === "bool") return 0.8 * there;
  if (column.type === "number") return distinct <= 30 ? 0.7 * there : 0;
  if (column.type !== "string") return 0;
  if (distinct > (column.rows ?? 0) / 4) return 0;
  return there * (distinct <= 300 ? 1 : distinct <= 10_000 ? 0.75 : 0.2) * (distinct < 3 ? 0.8 : 1);
}

/** The number columns that measure something, those with most distinct values first. */
export function rankNumbers(columns: readonly Column[]): Column[] {
  const score = (column: Column) =>
    (1 - (column.null_fraction ?? 0)) *
    Math.log1p(numberOf(column.distinct) ?? 1) *
    identifierPenalty(column);
  return columns
    .filter((it) => it.type === "number" && it.name !== "sample_rate")
    .map((it): [Column, number] => [it, score(it)])
    .sort((a, b) => b[1] - a[1])
    .map(([column]) => column);
}

/** The number column to show first: the one with most distinct values. */
export const defaultNumberColumn = (columns: readonly Column[]): Column | undefined =>
  rankNumbers(columns)[0];

const NAMES_THINGS = /(^|[._-])(id|pid|ppid|tid|uid|gid|no|nr|port|key|hash)$|[a-z](Id|ID|No|Key)$/;
/** In a table of at least so many rows, a column of nearly all different values holds names. */
const MANY_ROWS = 1000;
const NEARLY_ALL = 0.9;

/** Numbers that name things rather than measure them are not worth a distribution. */
function identifierPenalty(column: Column): number {
  return NAMES_THINGS.test(column.name) ? 0.1 : 1;
}

/** Whether the numbers of a column name things: its name says so, or nearly all are different. */
export function isIdentifier(column: Column): boolean {
  if (column.type !== "number") return false;
  if (NAMES_THINGS.test(column.name)) return true;
  const rows = column.rows ?? 0;
  const whole = [column.min, column.max, column.p50].every((it) => /^-?\d+$/.test(String(it)));
  return whole && rows >= MANY_ROWS && (numberOf(column.distinct) ?? 0) > rows * NEARLY_ALL;
}
