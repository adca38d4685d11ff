// A table's columns: names and types at once, statistics of their values later.

import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { type ColumnStats, fetchColumnStats, type Problem } from "../api/client";
import type { Column, Table } from "../api/types";
import { type ColumnUnits, useColumnUnits, withUnits } from "../widgets/columns/columnUnits";

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

/** The request for the statistics of a table's columns. */
export const columnStatsQuery = (table: Table) =>
  queryOptions<ColumnStats, Problem>({
    queryKey: ["column-stats", table.name, columnsVersion(table)],
    queryFn: ({ signal }) => fetchColumnStats(table.name, signal),
    staleTime: 60_000,
  });

/** The columns of a table with statistics; `columns` are their names and types. */
export function useColumnStats(table: Table, columns: readonly Column[]): ColumnsWithStats {
  const { name } = table;
  const query = columnStatsQuery(table);
  const client = useQueryClient();
  // What is there was requested.
  const [requested, setRequested] = useState(() =>
    client.getQueryData(query.queryKey) === undefined ? "" : name,
  );
  const { data, isError } = useQuery({
    ...query,
    enabled: requested === name,
    refetchInterval: ({ state }) => (state.data?.complete === false ? AGAIN_MS : false),
    placeholderData: (before, query) => (query?.queryKey[1] === name ? before : undefined),
  });
  const { units } = useColumnUnits(name);
  const load = useCallback(() => setRequested(name), [name]);
  return useMemo(
    () => ({
      columns: withAll(columns, data, units),
      loaded: data !== undefined || isError,
      load,
    }),
    [columns, data, units, isError, load],
  );
}

/** The columns with all that is known of them. */
export const withAll = (
  columns: readonly Column[],
  stats: ColumnStats | undefined,
  units: ColumnUnits,
): readonly Column[] => withUnits(withStats(columns, stats?.columns ?? []), units);

/** The columns, with statistics where there are some. */
export function withStats(columns: readonly Column[], stats: readonly Column[]): readonly Column[] {
  const byName = new Map(stats.map((column) => [column.name, column]));
  return columns.map((column) => byName.get(column.name) ?? column);
}
