import { useCallbackRef } from "@mantine/hooks";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { Column, Table } from "../api/types";
import { calendarZone, type Zone } from "../base/zone";
import type { Query } from "../query/query";
import type { ResolvedRows } from "../query/spec";
import { rangeIn } from "../query/time";
import type { IgnoredPart, ViewManifest } from "../query/viewManifest";
import { isIdentifier } from "./columnRanking";
import { useColumnStats } from "./columnStats";
import { type Commit, type Explore, ExploreContext, type Mark } from "./context";
import { useDerivedColumns } from "./derivedColumns";
import { fitToColumns } from "./fitToColumns";
import { MarkMenu } from "./MarkMenu";

/** Shares a query and its table with the views within, and opens the menus of their marks. */
export function QueryScope(props: {
  query: Query;
  table: Table;
  columns: readonly Column[];
  views: readonly ViewManifest[];
  now: number;
  zone: Zone;
  chartHeight?: number;
  commit: (next: Query) => void;
  /** Gets what is shared, and the parts of the query that do not fit the columns. */
  children: (explore: Explore, misfits: readonly IgnoredPart[]) => ReactNode;
}) {
  const { table, views, now, zone, chartHeight } = props;
  const { loaded: statsLoaded, load: loadStats, ...stats } = useColumnStats(table, props.columns);
  const columns = useDerivedColumns(table.name, props.query.define, stats.columns);
  const { query, misfits } = useMemo(
    () => fitToColumns(props.query, columns, now, views),
    [props.query, columns, now, views],
  );
  const commit = useCallbackRef<Commit>((next) =>
    props.commit(typeof next === "function" ? next(query) : next),
  );
  const rows = useRows(query, columns, table, zone, now);
  const [mark, setMark] = useState<Mark | null>(null);
  const openMenu = useCallback((next: Mark) => setMark(next), []);
  const identifiers = useMemo(
    () => new Set(columns.filter(isIdentifier).map((column) => column.name)),
    [columns],
  );
  const explore = useMemo<Explore>(
    () => ({
      query,
      resolved: { ...rows, query },
      rows,
      views,
      columns,
      statsLoaded,
      loadStats,
      identifiers,
      table,
      zone,
      now,
      commit,
      openMenu,
      ...(chartHeight === undefined ? {} : { chartHeight }),
    }),
    [
      query,
      rows,
      columns,
      views,
      statsLoaded,
      loadStats,
      identifiers,
      table,
      zone,
      now,
      commit,
      openMenu,
      chartHeight,
    ],
  );
  return (
    <ExploreContext.Provider value={explore}>
      {props.children(explore, misfits)}
      {mark && <MarkMenu key={mark.label} mark={mark} onClose={() => setMark(null)} />}
    </ExploreContext.Provider>
  );
}

/** The rows of a query: the same object as long as the query is about the same ones. */
function useRows(
  query: Query,
  columns: readonly Column[],
  table: Table,
  zone: Zone,
  now: number,
): ResolvedRows {
  const { from, to, define, filters, search, where } = query;
  const range = useMemo(() => rangeIn({ from, to }, table, now), [from, to, now, table]);
  return useMemo(
    () => ({
      query: { table: table.name, define, filters, search, where },
      columns,
      range,
      zone: calendarZone(zone),
    }),
    [table.name, define, filters, search, where, columns, range, zone],
  );
}
