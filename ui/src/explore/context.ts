// What every part of the page shares while a table is explored.

import { createContext, useContext } from "react";
import type { Column, Table } from "../api/types";
import type { Zone } from "../base/zone";
import { excludeGroups, onlyGroups, type PickedValue } from "../query/edit";
import type { Query } from "../query/query";
import type { ResolvedQuery, ResolvedRows } from "../query/spec";
import type { Range } from "../query/time";
import type { ViewManifest } from "../query/viewManifest";

/** A mark that was clicked: what it stands for, and where the menu opens. */
export interface Mark {
  readonly label: string;
  readonly picks: readonly PickedValue[];
  /** The time that it covers, if it is a part of the range. */
  readonly range?: Range;
  readonly point: { x: number; y: number };
  /** The text to copy of a mark that offers nothing else: it stands for no rows of the table. */
  readonly copies?: string;
  /** Narrows a query to what the mark stands for, where its picks cannot say it. */
  readonly narrow?: (query: Query) => Query;
  /** The opposite of `narrow`. */
  readonly without?: (query: Query) => Query;
}

/** What a series stands for: its values, or all that have not the values of others. */
export function markOf(series: {
  readonly picks: readonly PickedValue[];
  readonly others: readonly (readonly PickedValue[])[];
}): Omit<Mark, "label" | "range" | "point"> {
  const { picks, others } = series;
  if (others.length === 0) return { picks };
  return {
    picks: [],
    narrow: (it) => excludeGroups(it, others),
    without: (it) => onlyGroups(it, others),
  };
}

/** Asks another query, or what a function makes of the present one. */
export type Commit = (next: Query | ((query: Query) => Query)) => void;

export interface Explore {
  readonly query: Query;
  readonly resolved: ResolvedQuery;
  /** What `resolved` has that does not change with how its rows are drawn. */
  readonly rows: ResolvedRows;
  /** All views, in their order. */
  readonly views: readonly ViewManifest[];
  readonly columns: readonly Column[];
  /** Whether the statistics of the columns are loaded; and the request for them. */
  readonly statsLoaded: boolean;
  readonly loadStats: () => void;
  /** The columns whose numbers are names of things: digits that are not set in groups. */
  readonly identifiers: ReadonlySet<string>;
  readonly table: Table;
  readonly zone: Zone;
  /** The moment of asking, in milliseconds by the server's clock. */
  readonly now: number;
  /** The same function always; another query becomes an entry of the browser's history. */
  readonly commit: Commit;
  /** Opens the menu of a mark. */
  readonly openMenu: (mark: Mark) => void;
  /** The height of charts in pixels, where it is not the view's: in a tile. */
  readonly chartHeight?: number;
}

export const ExploreContext = createContext<Explore | null>(null);

/** What the page shares with this component. */
export function useExplore(): Explore {
  const explore = useContext(ExploreContext);
  if (!explore) throw new Error("useExplore needs an ExploreContext around it");
  return explore;
}

/** The height of a chart in pixels: that of its tile, or the usual one. */
export const useChartHeight = (usual: number): number => useExplore().chartHeight ?? usual;

/** Where a click's menu opens: under the finger, or under the thing that a key pressed. */
export function pointOf(event: React.MouseEvent): { x: number; y: number } {
  if (event.clientX !== 0 || event.clientY !== 0) return { x: event.clientX, y: event.clientY };
  const box = event.currentTarget.getBoundingClientRect();
  return { x: box.left, y: box.bottom };
}
