// What a click does to the question: each edit gives a new one.

import type { Cell, Column, Type } from "../api/types";
import { conditionSql, type Filter, filterOf, filterSql, filterText, OPERATORS } from "./filter";
import type { Question } from "./query";
import { columnOf, quoteName, withoutAlias } from "./sql";

/** A value of a column that was clicked: of a group, a cell, a legend entry. */
export interface Pick {
  /** The column; or what the values of an expression are called. */
  readonly column: string;
  readonly value: Cell;
  readonly type: Type;
  /** The SQL that the values are of, where that is no column: no chip can say it. */
  readonly expression?: string;
}

/** The values of a group of rows, one for each that it is grouped by. */
export function picksOf(
  group: readonly string[],
  values: readonly Cell[],
  types: readonly (Type | undefined)[],
  columns: readonly Column[],
): Pick[] {
  return group.map((text, at) => {
    const column = columnOf(text);
    const [value, type] = [values[at] ?? null, types[at] ?? "string"];
    if (column !== null) return pickOf(columns, column, value, type);
    return { column: text, value, type, expression: withoutAlias(text) };
  });
}

/**
 * The value of a column, of which a further kind is named `name::kind` in raw rows. Where a column
 * has several kinds, its value is of one of them, and missing may mean that it is of another.
 */
export function pickOf(columns: readonly Column[], name: string, value: Cell, type: Type): Pick {
  const pick = { column: name, value, type };
  const [, column, kind] = /^(.+)::(number|string|set|vector)$/s.exec(name) ?? [];
  const find = (wanted: string) => columns.find((it) => it.name === wanted);
  const own = find(name);
  if (own && own.parts.length > 1 && own.parts.some((part) => part.kind === type)) {
    return { ...pick, expression: `${quoteName(name)}::${type}` };
  }
  if (column === undefined || own || !find(column)) return pick;
  return { ...pick, expression: `${quoteName(column)}::${kind}` };
}

/** With one more filter; the same again changes nothing, one value takes the other's place. */
export function withFilter(question: Question, filter: Filter): Question {
  const text = filterText(filter);
  if (question.filters.some((it) => filterText(it) === text)) return question;
  const replaced = (it: Filter) =>
    it.column === filter.column &&
    it.operator === filter.operator &&
    (it.operator === "=" || it.operator === "is");
  const others = question.filters.filter((it) => !replaced(it));
  return { ...question, filters: [...others, filter] };
}

/** With one more condition of SQL. */
function withWhere(question: Question, condition: string): Question {
  const { where } = question;
  if (where.trim() === "") return { ...question, where: condition };
  return where.includes(condition)
    ? question
    : { ...question, where: `(${where}) AND ${condition}` };
}

function pickSql({ column, expression, value, type }: Pick, opposite: boolean): string {
  const name = expression === undefined ? quoteName(column) : `(${expression})`;
  return conditionSql(name, filterOf(column, value, type, opposite), type);
}

/** Only the rows that have all of these values. */
export function only(question: Question, picks: readonly Pick[]): Question {
  return picks.reduce((it, pick) => {
    if (pick.expression !== undefined) return withWhere(it, pickSql(pick, false));
    return withFilter(it, filterOf(pick.column, pick.value, pick.type));
  }, question);
}

/** Without the rows that have all of these values. */
export function exclude(question: Question, picks: readonly Pick[]): Question {
  return outside(question, [picks]);
}

/** Only the rows that are in none of these groups. */
export function outside(question: Question, groups: readonly (readonly Pick[])[]): Question {
  const singles = groups.flatMap(([pick, ...others]) =>
    pick && others.length === 0 && pick.expression === undefined ? [pick] : [],
  );
  if (singles.length === groups.length) return withoutValues(question, singles);
  // A row is outside of a group when one of its values is another.
  const conditions = groups.map((picks) => picks.map((it) => pickSql(it, true)).join(" OR "));
  return withWhere(question, conditions.map((it) => `(${it})`).join(" AND "));
}

/** Only the rows that are in one of these groups. */
export function inside(question: Question, groups: readonly (readonly Pick[])[]): Question {
  const filters = groups.flatMap(([pick, ...others]) =>
    pick && others.length === 0 && pick.expression === undefined
      ? [filterOf(pick.column, pick.value, pick.type)]
      : [],
  );
  const [first] = filters;
  const same = filters.filter((it) => it.operator === "=" && it.column === first?.column);
  if (first && same.length === groups.length) {
    return withFilter(question, { ...first, values: same.flatMap((it) => it.values) });
  }
  const conditions = groups.map((picks) => picks.map((it) => pickSql(it, false)).join(" AND "));
  return withWhere(question, `(${conditions.map((it) => `(${it})`).join(" OR ")})`);
}

/** Without the rows between two ends; those that have no value stay. */
export function beyond(question: Question, from: Filter, to: Filter): Question {
  const [least, most] = [filterSql(from, "number"), filterSql(to, "number")];
  return withWhere(question, `(NOT (${least} AND ${most}) OR ${quoteName(from.column)} IS NULL)`);
}

/** Without the rows that have one of these values, in one filter as far as that can be said so. */
function withoutValues(question: Question, picks: readonly Pick[]): Question {
  const filters = picks.map(({ column, value, type }) => filterOf(column, value, type, true));
  const [first] = filters.filter((it) => it.operator === "!=");
  if (!first) return filters.reduce(withFilter, question);
  const same = (it: Filter) => it.operator === "!=" && it.column === first.column;
  const values = filters.filter(same).flatMap((it) => it.values);
  return [{ ...first, values }, ...filters.filter((it) => !same(it))].reduce(withFilter, question);
}

/** A pick of a list as a filter on its elements, whatever else is in it; null for any other. */
export function elementsFilter({ column, value, expression }: Pick): Filter | null {
  if (!Array.isArray(value) || value.length === 0 || expression !== undefined) return null;
  return { column, operator: "has-all", values: [...new Set(value.map(String))] };
}

/** How a pick is called on its own: `service is gateway`. */
export function pickLabel(pick: Pick, text: string): string {
  const { operator } = filterOf(pick.column, pick.value, pick.type);
  const { takes, label } = OPERATORS[operator];
  return takes === "none" ? `${pick.column} ${label}` : `${pick.column} is ${text}`;
}

/** Grouped by a column as well, or no longer. */
export function toggleGroup(question: Question, column: string): Question {
  const name = quoteName(column);
  const has = question.group.some((it) => (columnOf(it) ?? it) === column);
  const group = has
    ? question.group.filter((it) => (columnOf(it) ?? it) !== column)
    : [...question.group, name];
  // What is grouped is looked at as groups.
  const view =
    has || question.view === "time" || question.view === "table" ? question.view : "time";
  return { ...question, group, view };
}

/** Without the filter at a place. */
export function withoutFilter(question: Question, place: number): Question {
  return { ...question, filters: question.filters.filter((_, at) => at !== place) };
}

/** With another filter in the place of one. */
export function replaceFilter(question: Question, place: number, filter: Filter): Question {
  return { ...question, filters: question.filters.map((it, at) => (at === place ? filter : it)) };
}
