// The units that a person has set for columns: in the settings of the table, or only in this
// browser, where it may not change these.

import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { fetchSettings, Problem, putSettings } from "../../api/client";
import { explicitSettings, settingsKey } from "../../api/settings";
import type { Column, SetSettings, Settings } from "../../api/types";
import { type SetUnit, UNIT_NAMES, unitOfName } from "../../base/units";

const KEY = "hadal-units:";
const EVENT = "hadal-units";

export type ColumnUnits = ReadonlyMap<string, SetUnit>;

function subscribe(listener: () => void): () => void {
  // Another tab's change, and one of this tab.
  window.addEventListener("storage", listener);
  window.addEventListener(EVENT, listener);
  return () => {
    window.removeEventListener("storage", listener);
    window.removeEventListener(EVENT, listener);
  };
}

/** The units of columns in a stored text; what is none is left out. */
export function readUnits(text: string | null): ColumnUnits {
  try {
    return unitsOf(JSON.parse(text ?? "null"));
  } catch {
    // Something else has written there.
    return new Map();
  }
}

/** The units of columns in an object; what is none is left out. */
export function unitsOf(stored: unknown): ColumnUnits {
  if (typeof stored !== "object" || stored === null) return new Map();
  const isUnit = (value: unknown): value is SetUnit => UNIT_NAMES.some(([unit]) => unit === value);
  return new Map(
    Object.entries(stored).filter((entry): entry is [string, SetUnit] => isUnit(entry[1])),
  );
}

/** Keeps the unit of a column in this browser; undefined is none. */
function keepUnit(table: string, column: string, unit: SetUnit | undefined): void {
  const key = KEY + table;
  const next = new Map(readUnits(localStorage.getItem(key)));
  if (unit === undefined) next.delete(column);
  else next.set(column, unit);
  if (next.size === 0) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(Object.fromEntries(next)));
  window.dispatchEvent(new Event(EVENT));
}

/** A table's settings with another unit of a column; null is what the column's name says. */
export function settingsWithUnit(
  current: Settings,
  column: string,
  unit: SetUnit | null,
): SetSettings {
  const units = new Map(unitsOf(current.settings.units));
  if (unit === null) units.delete(column);
  else units.set(column, unit);
  return { ...explicitSettings(current), units: Object.fromEntries(units) };
}

/** The request for a table's settings. */
export const settingsQuery = (table: string) =>
  queryOptions<Settings, Problem>({
    queryKey: settingsKey(table),
    queryFn: ({ signal }) => fetchSettings(table, signal),
    staleTime: 60_000,
    retry: false,
  });

const keptText = (table: string) => localStorage.getItem(KEY + table);

const unitsOfBoth = (set: unknown, kept: ColumnUnits): ColumnUnits =>
  new Map([...unitsOf(set), ...kept]);

/** The units of a table's columns, by its settings and by what this browser keeps. */
export const columnUnits = (table: string, settings: Settings | undefined): ColumnUnits =>
  unitsOfBoth(settings?.settings.units, readUnits(keptText(table)));

/** The units of a table's columns, and how to set one; null is what the column's name says. */
export function useColumnUnits(table: string): {
  units: ColumnUnits;
  /** Those that only this browser has, as it may not change the table's settings. */
  kept: ColumnUnits;
  setUnit: (column: string, unit: SetUnit | null) => void;
} {
  const client = useQueryClient();
  const { data } = useQuery(settingsQuery(table));
  const text = useSyncExternalStore(subscribe, () => keptText(table));
  const kept = useMemo(() => readUnits(text), [text]);
  const set = data?.settings.units;
  const units = useMemo(() => unitsOfBoth(set, kept), [set, kept]);
  const setUnit = useCallback(
    async (column: string, unit: SetUnit | null) => {
      // Shown at once, and kept here where the server refuses it.
      keepUnit(table, column, unit ?? unitOfName(column) ?? "none");
      try {
        const current = await fetchSettings(table);
        const settings = settingsWithUnit(current, column, unit);
        const queryKey = settingsKey(table);
        const now = await putSettings(table, current.version, settings);
        // What was asked before would overwrite it.
        await client.cancelQueries({ queryKey });
        client.setQueryData(queryKey, now);
        keepUnit(table, column, undefined);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
      }
    },
    [client, table],
  );
  return { units, kept, setUnit: (column, unit) => void setUnit(column, unit) };
}

/** The columns with the units that were set for them. */
export function withUnits(columns: readonly Column[], units: ColumnUnits): readonly Column[] {
  if (units.size === 0) return columns;
  return columns.map((column) => {
    const unit = units.get(column.name);
    return unit === undefined ? column : { ...column, unit };
  });
}
