// Parts of a query that do not fit the types of the columns: reported, not answered.

import type { Column } from "../api/types";
import { filterText, typeOf } from "../query/filter";
import type { Query } from "../query/query";
import { columnOf, quoteName } from "../query/sql";
import type { IgnoredPart, ViewManifest } from "../query/viewManifest";
import { valueProblem } from "../widgets/filter/filterDraft";

const ORDERS: readonly string[] = ["<", "<=", ">", ">="];

/** A group that is the exact name of a column is that column: `Customer Name` is no alias. */
function withColumnNames(query: Query, columns: readonly Column[]): Query {
  const isName = (group: string) =>
    columnOf(group) === null && columns.some(({ name }) => name === group);
  if (!query.group.some(isName)) return query;
  return { ...query, group: query.group.map((it) => (isName(it) ? quoteName(it) : it)) };
}

/** The query without the parts that do not fit the columns, and these parts. */
export function fitToColumns(
  query: Query,
  columns: readonly Column[],
  now: number,
  views: readonly ViewManifest[],
): { query: Query; misfits: readonly IgnoredPart[] } {
  const misfits: IgnoredPart[] = [];
  // Nothing equals a value of another type, which is an answer; but it has no place in an order.
  const filters = query.filters.filter((filter) => {
    const type = typeOf(columns, filter.column);
    const [value = ""] = filter.values;
    const ordered = ORDERS.includes(filter.operator) && type !== undefined;
    const problem = ordered ? valueProblem(value, type, now) : null;
    if (problem)
      misfits.push({ part: `filter=${filterText(filter)}`, why: `is left out: ${problem}` });
    return problem === null;
  });
  const named = withColumnNames(query, columns);
  const left = filters.length < query.filters.length ? { ...named, filters } : named;
  const view = views.find(({ kind }) => kind === query.view.kind);
  const repaired = view?.repair?.(left, columns) ?? { query: left, ignored: [] };
  return { query: repaired.query, misfits: [...misfits, ...repaired.ignored] };
}
