// A table's columns: names and types at once, statistics of their values later.

import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { type ColumnStats, fetchColumnStats, type Problem } from "../api/client";
import type { Column, Table } from "../api/types";
import { useColumnUnits, withUnits } from "../widgets/columns/columnUnits";

const AGAIN_MS = 1000;

/** The columns, with statistics once these are loaded. */
export interface ColumnsWithStats {
  readonly columns: readonly Column[];
  /** Whether the server has answered the request for statistics, or refused it. */
  readonly loaded: boolean;
  /** Requests the statistics. The server scans every row for them, so answers to draw come first. */
  readonly load: () => void;
}

/**
 * A text that changes when a table gets columns, and when it is dropped and created again, as its
 * first row then has another time.
 */
export const columnsVersion = ({ column_count, first_time }: Table): string =>
  `${column_count} ${first_time}`;

/** The columns of a table with statistics; `columns` are their names and types. */
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
  const { units } = useColumnUnits(name);
  const load = useCallback(() => setRequested(name), [name]);
  return useMemo(
    () => ({
      columns: withUnits(withStats(columns, data?.columns ?? []), units),
      loaded: data !== undefined || isError,
      load,
    }),
    [columns, data, units, isError, load],
  );
}

/** The columns, with statistics where there are some. */
export function withStats(columns: readonly Column[], stats: readonly Column[]): readonly Column[] {
  const byName = new Map(stats.map((column) => [column.name, column]));
  return columns.map((column) => byName.get(column.name) ?? column);
}
