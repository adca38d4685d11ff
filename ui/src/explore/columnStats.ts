// What is known of a table's columns: at once names and types, later what their values are like.

import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { type ColumnStats, fetchColumnStats, type Problem } from "../api/client";
import type { Column, Table } from "../api/types";

const AGAIN_MS = 1000;

/** The columns as far as they are known, and how to know more of them. */
export interface ColumnsWithStats {
  readonly columns: readonly Column[];
  /** Whether the server has said what the values are like, as far as it can say so at once. */
  readonly loaded: boolean;
  /** Has the server asked, which looks at every row for it: what is to be drawn goes first. */
  readonly load: () => void;
}

/**
 * What changes when a table gets columns, and when one of its name is made anew, which then begins at
 * another moment.
 */
export const columnsVersion = ({ column_count, first_time }: Table): string =>
  `${column_count} ${first_time}`;

/** What is known of the columns of a table; `columns` are their names and types. */
export function useColumnStats(table: Table, columns: readonly Column[]): ColumnsWithStats {
  const { name } = table;
  const [requested, setRequested] = useState("");
  const { data, isError } = useQuery<ColumnStats, Problem>({
    queryKey: ["column-stats", name, columnsVersion(table)],
    queryFn: ({ signal }) => fetchColumnStats(name, signal),
    enabled: requested === name,
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.data?.complete === false ? AGAIN_MS : false),
    placeholderData: (before, query) => (query?.queryKey[1] === name ? before : undefined),
  });
  const load = useCallback(() => setRequested(name), [name]);
  return useMemo(
    () => ({
      columns: withStats(columns, data?.columns ?? []),
      loaded: data !== undefined || isError,
      load,
    }),
    [columns, data, isError, load],
  );
}

/** The columns, those with facts as these tell of them. */
export function withStats(columns: readonly Column[], stats: readonly Column[]): readonly Column[] {
  const byName = new Map(stats.map((column) => [column.name, column]));
  return columns.map((column) => byName.get(column.name) ?? column);
}
