// Columns as pickers list them: found by a part of their name, the likely columns first.

import { numberOf } from "../../api/client";
import type { Column, Type } from "../../api/types";
import { exact, short } from "../../base/format";
import { columnOf, quoteName } from "../../query/sql";

/** From here on a column has more values than groups make sense of. */
export const MANY_VALUES = 10_000;

/** The columns whose name contains a text: the name itself first, then those that begin with it. */
export function findColumns(columns: readonly Column[], text: string): Column[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [...columns];
  const ranked = columns.map((column) => ({ column, rank: rankOf(column.name, wanted) }));
  return ranked
    .filter(({ rank }) => rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .map(({ column }) => column);
}

function rankOf(name: string, wanted: string): number {
  const lower = name.toLowerCase();
  if (lower === wanted) return 0;
  if (lower.startsWith(wanted)) return 1;
  return lower.includes(wanted) ? 2 : 3;
}

/** About how many distinct values a column has; null if that is not known. */
export const distinctOf = (column: Column): number | null => numberOf(column.distinct);

/** What a list says of a column at its end, and in full. */
export function noteOf(column: Column, marksMany = false): { text: string; title: string } {
  if (column.is_time) return { text: "row time", title: "When a row happened" };
  const distinct = distinctOf(column);
  if (distinct === null) return { text: "", title: "" };
  const many = marksMany && distinct > MANY_VALUES;
  return {
    text: many ? "many values" : short(distinct),
    title: `about ${exact(distinct)} distinct values`,
  };
}

/** The columns that people group by first: the time and the sample rate come last. */
export function groupable(columns: readonly Column[]): Column[] {
  const late = (column: Column) => Number(column.is_time || column.name === "sample_rate");
  return columns.toSorted((a, b) => late(a) - late(b));
}

/** The column that an expression of a group names, if it is one of these. */
export function namedColumn(columns: readonly Column[], expression: string): Column | undefined {
  const name = columnOf(expression);
  return columns.find((column) => column.name === name);
}

/** Whether a group holds a column, however its name is written. */
export const isGrouped = (group: readonly string[], column: Column): boolean =>
  group.some((it) => it === quoteName(column.name) || columnOf(it) === column.name);

export interface Section {
  readonly name: string;
  readonly columns: readonly Column[];
  /** How many there are, the undrawn ones included. */
  readonly all: number;
}

const SECTIONS: readonly [string, readonly Type[]][] = [
  ["Text", ["string", "bool"]],
  ["Numbers", ["number"]],
  ["Times", ["time"]],
  ["Sets and vectors", ["set", "vector"]],
  ["Other", ["null", "histogram"]],
];

/** The columns by type, as many as may be drawn; sections without any are left out. */
export function sectionsOf(columns: readonly Column[], most: number): Section[] {
  let left = most;
  return SECTIONS.flatMap(([name, types]) => {
    const members = columns.filter((column) => types.includes(column.type));
    const drawn = members.slice(0, left);
    left -= drawn.length;
    return drawn.length > 0 ? [{ name, columns: drawn, all: members.length }] : [];
  });
}
