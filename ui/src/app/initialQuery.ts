// What the page asks where its address does not say all of it.

import type { Table } from "../api/types";
import type { Query } from "../query/query";
import { rangeOf, rangeWithData } from "../query/time";
import { withTable } from "../query/url";
import { asked, go, replaceQuery } from "./address";

/**
 * Completes an address that names no table, or no range. Returns whether it did. An address that is
 * partly unread stays as it is, so that it can be put right.
 */
export function completeAddress(tables: readonly Table[], now: number): boolean {
  const before = window.location.search;
  const table = busiest(tables);
  if (asked().query === null && table) go(withTable(before, table.name), true);
  const { query, ignored } = asked();
  const complete = query && ignored.length === 0 ? withRange(query, tables, now) : null;
  if (complete) replaceQuery(complete);
  return window.location.search !== before;
}

/** The query with a range that holds data. Null where it has a range, or there is no such table. */
export function withRange(query: Query, tables: readonly Table[], now: number): Query | null {
  const table = tables.find((it) => it.name === query.table);
  // A range that ends before it begins is none.
  if (!table || rangeOf(query, now, table)) return null;
  return { ...query, ...rangeWithData(table, now) };
}

/** The table of users that has most rows. */
export function busiest(tables: readonly Table[]): Table | undefined {
  const userTables = tables.filter((it) => !it.name.startsWith("_"));
  return userTables.toSorted((a, b) => b.rows - a.rows)[0];
}
