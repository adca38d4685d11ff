// The tables, and a table's columns with their types, as they are known at once.

import { queryOptions, useQuery } from "@tanstack/react-query";
import { fetchColumns, fetchTables, type Problem } from "../api/client";
import type { Column, Table } from "../api/types";
import { columnsVersion } from "./columnStats";

/** How old the list of tables may be, in milliseconds. */
export const TABLES_AGE_MS = 10_000;

/** The request for all tables. */
export const tablesQuery = queryOptions<Table[], Problem>({
  queryKey: ["tables"],
  queryFn: ({ signal }) => fetchTables(signal),
  staleTime: TABLES_AGE_MS,
});

/** The request for a table's columns; another one when there are more of them, or perhaps others. */
export function columnsQuery(table: Table | undefined) {
  const name = table?.name ?? "";
  return queryOptions<Column[], Problem>({
    queryKey: ["columns", name, table && columnsVersion(table)],
    queryFn: ({ signal }) => fetchColumns(name, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A table's columns; those before them until they are there. */
export function useTableColumns(table: Table | undefined) {
  return useQuery({
    ...columnsQuery(table),
    enabled: table !== undefined,
    placeholderData: (before, query) => (query?.queryKey[1] === table?.name ? before : undefined),
  });
}
