// What a click does to the query: each edit gives a new query.

import type { Cell, Column, Type } from "../api/types";
import { conditionSql, type Filter, filterOf, filterSql, filterText, OPERATORS } from "./filter";
import type { Query } from "./query";
import { columnOf, quoteName, withoutAlias } from "./sql";
import { type ViewManifest, viewShowing } from "./viewManifest";

/** A value of a column that was clicked: of a group, a cell, a legend entry. */
export interface PickedValue {
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
): PickedValue[] {
  return group.map((text, at) => {
    const column = columnOf(text);
    const [value, type] = [values[at] ?? null, types[at] ?? "string"];
    if (column !== null) return pickOf(columns, column, value, type);
    return { column: text, value, type, expression: withoutAlias(text) };
  });
}

/**
 * A value of a column. Raw rows name a further kind of a column `name::kind`. A value of a column
 * with several kinds has one of them; null may mean that the row has another kind.
 */
export function pickOf(
  columns: readonly Column[],
  name: string,
  value: Cell,
  type: Type,
): PickedValue {
  const pick = { column: name, value, type };
  const [, column, kind] = /^(.+)::(number|string|set|vector)$/s.exec(name) ?? [];
  const find = (columnName: string) => columns.find((it) => it.name === columnName);
  const direct = find(name);
  if (direct && direct.parts.length > 1 && direct.parts.some((part) => part.kind === type)) {
    return { ...pick, expression: `${quoteName(name)}::${type}` };
  }
  if (column === undefined || direct || !find(column)) return pick;
  return { ...pick, expression: `${quoteName(column)}::${kind}` };
}

/** With one more filter; the same again changes nothing, one value takes the other's place. */
export function withFilter(query: Query, filter: Filter): Query {
  const text = filterText(filter);
  if (query.filters.some((it) => filterText(it) === text)) return query;
  const isReplaced = (other: Filter) =>
    other.column === filter.column &&
    other.operator === filter.operator &&
    (other.operator === "=" || other.operator === "is");
  const others = query.filters.filter((it) => !isReplaced(it));
  return { ...query, filters: [...others, filter] };
}

/** With one more condition of SQL. */
export function withCondition(query: Query, condition: string): Query {
  return withWhere(query, `(${condition})`);
}

function withWhere(query: Query, condition: string): Query {
  const { where } = query;
  if (where.trim() === "") return { ...query, where: condition };
  return where.includes(condition) ? query : { ...query, where: `(${where}) AND ${condition}` };
}

function pickSql({ column, expression, value, type }: PickedValue, opposite: boolean): string {
  const name = expression === undefined ? quoteName(column) : `(${expression})`;
  return conditionSql(name, filterOf(column, value, type, opposite), type);
}

/** Only the rows that have all of these values. */
export function only(query: Query, picks: readonly PickedValue[]): Query {
  return picks.reduce((it, pick) => {
    if (pick.expression !== undefined) return withWhere(it, pickSql(pick, false));
    return withFilter(it, filterOf(pick.column, pick.value, pick.type));
  }, query);
}

/** Without the rows that have all of these values. */
export function exclude(query: Query, picks: readonly PickedValue[]): Query {
  return excludeGroups(query, [picks]);
}

/** Only the rows that are in none of these groups. */
export function excludeGroups(query: Query, groups: readonly (readonly PickedValue[])[]): Query {
  const singles = groups.flatMap(([pick, ...others]) =>
    pick && others.length === 0 && pick.expression === undefined ? [pick] : [],
  );
  if (singles.length === groups.length) return withoutValues(query, singles);
  // A row is outside of a group when one of its values is another.
  const conditions = groups.map((picks) => picks.map((it) => pickSql(it, true)).join(" OR "));
  return withWhere(query, conditions.map((it) => `(${it})`).join(" AND "));
}

/** Only the rows that are in one of these groups. */
export function onlyGroups(query: Query, groups: readonly (readonly PickedValue[])[]): Query {
  const filters = groups.flatMap(([pick, ...others]) =>
    pick && others.length === 0 && pick.expression === undefined
      ? [filterOf(pick.column, pick.value, pick.type)]
      : [],
  );
  const [first] = filters;
  const same = filters.filter((it) => it.operator === "=" && it.column === first?.column);
  if (first && same.length === groups.length) {
    return withFilter(query, { ...first, values: same.flatMap((it) => it.values) });
  }
  const conditions = groups.map((picks) => picks.map((it) => pickSql(it, false)).join(" AND "));
  return withWhere(query, `(${conditions.map((it) => `(${it})`).join(" OR ")})`);
}

/** Without the rows between two ends; those that have no value stay. */
export function excludeRange(query: Query, from: Filter, to: Filter): Query {
  return excludeBox(query, [from, to]);
}

/** Without the rows between all of these ends; those that lack one of the values stay. */
export function excludeBox(query: Query, ends: readonly Filter[]): Query {
  const inside = ends.map((it) => filterSql(it, "number")).join(" AND ");
  const columns = [...new Set(ends.map(({ column }) => `${quoteName(column)} IS NULL`))];
  return withWhere(query, `(NOT (${inside}) OR ${columns.join(" OR ")})`);
}

/** Without the rows that have one of these values, in one filter as far as that can be said so. */
function withoutValues(query: Query, picks: readonly PickedValue[]): Query {
  const filters = picks.map(({ column, value, type }) => filterOf(column, value, type, true));
  const [first] = filters.filter((it) => it.operator === "!=");
  if (!first) return filters.reduce(withFilter, query);
  const same = (filter: Filter) => filter.operator === "!=" && filter.column === first.column;
  const values = filters.filter(same).flatMap((it) => it.values);
  return [{ ...first, values }, ...filters.filter((it) => !same(it))].reduce(withFilter, query);
}

/** A pick of a list as a filter on its elements, whatever else is in it; null for any other. */
export function elementsFilter({ column, value, expression }: PickedValue): Filter | null {
  if (!Array.isArray(value) || value.length === 0 || expression !== undefined) return null;
  return { column, operator: "has-all", values: [...new Set(value.map(String))] };
}

/** How a pick is called on its own: `service is gateway`. */
export function pickLabel(pick: PickedValue, text: string): string {
  const { operator } = filterOf(pick.column, pick.value, pick.type);
  const { takes, label } = OPERATORS[operator];
  return takes === "none" ? `${pick.column} ${label}` : `${pick.column} is ${text}`;
}

/** Grouped by a column as well, or no longer. */
export function toggleGroup(query: Query, column: string, views: readonly ViewManifest[]): Query {
  const has = query.group.some((it) => (columnOf(it) ?? it) === column);
  if (has) {
    return { ...query, group: query.group.filter((it) => (columnOf(it) ?? it) !== column) };
  }
  return viewShowing({ ...query, group: [...query.group, quoteName(column)] }, views, "groups");
}

/** Without the filter at a place. */
export function withoutFilter(query: Query, place: number): Query {
  return { ...query, filters: query.filters.filter((_, at) => at !== place) };
}

/** With another filter in the place of one. */
export function replaceFilter(query: Query, place: number, filter: Filter): Query {
  return { ...query, filters: query.filters.map((it, at) => (at === place ? filter : it)) };
}
