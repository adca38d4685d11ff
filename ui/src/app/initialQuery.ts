// What the page asks where its address does not say all of it.

import type { Table } from "../api/types";
import { defaultQuery, type Query } from "../query/query";
import { rangeOf, rangeWithData } from "../query/time";

/**
 * The query with a table and a range that holds data: the one of users that has most rows where the
 * address names none. Null where the query is complete, or there is no such table.
 */
export function initialQuery(
  query: Query | null,
  tables: readonly Table[],
  now: number,
): Query | null {
  const name = query?.table ?? busiest(tables)?.name;
  const table = tables.find((it) => it.name === name);
  // A range that ends before it begins is none.
  if (!table || (query && rangeOf(query, now, table))) return null;
  return { ...(query ?? defaultQuery(table.name)), ...rangeWithData(table, now) };
}

function busiest(tables: readonly Table[]): Table | undefined {
  const userTables = tables.filter((it) => !it.name.startsWith("_"));
  return userTables.toSorted((a, b) => b.rows - a.rows)[0];
}
