// Parts of a query that do not fit the types of the columns: reported, not answered.

import type { Column } from "../api/types";
import { filterText, typeOf } from "../query/filter";
import type { Query } from "../query/query";
import type { IgnoredPart, ViewManifest } from "../query/viewManifest";
import { valueProblem } from "../widgets/filter/filterDraft";

const ORDERS: readonly string[] = ["<", "<=", ">", ">="];

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
  const left = filters.length < query.filters.length ? { ...query, filters } : query;
  const view = views.find(({ kind }) => kind === query.view.kind);
  const repaired = view?.repair?.(left, columns) ?? { query: left, ignored: [] };
  return { query: repaired.query, misfits: [...misfits, ...repaired.ignored] };
}
