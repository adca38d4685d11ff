// A table's columns with their types, as they are known at once.

import { useQuery } from "@tanstack/react-query";
import { fetchColumns, type Problem } from "../api/client";
import type { Column, Table } from "../api/types";
import { columnsVersion } from "./columnStats";

/** A table's columns; asked for again when there are more of them, or perhaps others. */
export function useTableColumns(table: Table | undefined) {
  const name = table?.name ?? "";
  return useQuery<Column[], Problem>({
    queryKey: ["columns", name, table && columnsVersion(table)],
    queryFn: ({ signal }) => fetchColumns(name, signal),
    enabled: table !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before, query) => (query?.queryKey[1] === name ? before : undefined),
  });
}
