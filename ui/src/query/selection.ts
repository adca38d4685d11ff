// Rows that were selected by a mark, without being filtered to: a condition of SQL.

import type { Column } from "../api/types";
import { filterSql, typeOf } from "./filter";
import type { Query } from "./query";
import { quoteName, quoteText } from "./sql";
import { isoText, type Range } from "./time";
import { textOption } from "./viewManifest";

/** The selected rows, which are compared with the rest of those that the query is about. */
export const SELECTED = textOption("select");

/** The condition of what a mark narrows a query to, and of its time; empty if it narrows nothing. */
export function selectionSql(
  query: Query,
  columns: readonly Column[],
  narrow: (query: Query) => Query,
  range?: Range,
): string {
  const { filters, where } = narrow({ ...query, filters: [], where: "" });
  const conditions = filters.map((it) => filterSql(it, typeOf(columns, it.column)));
  if (where.trim() !== "") conditions.push(`(${where.trim()})`);
  if (range) {
    const time = quoteName(columns.find((it) => it.is_time)?.name ?? "time");
    conditions.push(`${time} >= ${quoteText(isoText(range.from))}`);
    conditions.push(`${time} < ${quoteText(isoText(range.to))}`);
  }
  return conditions.join(" AND ");
}
