// The units that a person has set for columns. This browser keeps them, for each table.

import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { Column } from "../../api/types";
import { type SetUnit, UNIT_NAMES } from "../../base/units";

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

/** The units in a stored text; what is none is left out. */
export function readUnits(text: string | null): ColumnUnits {
  let stored: unknown = null;
  try {
    stored = JSON.parse(text ?? "null");
  } catch {
    // Something else has written there.
  }
  if (typeof stored !== "object" || stored === null) return new Map();
  const isUnit = (value: unknown): value is SetUnit => UNIT_NAMES.some(([unit]) => unit === value);
  return new Map(
    Object.entries(stored).filter((entry): entry is [string, SetUnit] => isUnit(entry[1])),
  );
}

/** The units of a table's columns, and how to set one; null is what the column's name says. */
export function useColumnUnits(table: string): {
  units: ColumnUnits;
  setUnit: (column: string, unit: SetUnit | null) => void;
} {
  const key = KEY + table;
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  const units = useMemo(() => readUnits(text), [text]);
  const setUnit = useCallback(
    (column: string, unit: SetUnit | null) => {
      const next = new Map(readUnits(localStorage.getItem(key)));
      if (unit === null) next.delete(column);
      else next.set(column, unit);
      if (next.size === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(Object.fromEntries(next)));
      window.dispatchEvent(new Event(EVENT));
    },
    [key],
  );
  return { units, setUnit };
}

/** The columns with the units that were set for them. */
export function withUnits(columns: readonly Column[], units: ColumnUnits): readonly Column[] {
  if (units.size === 0) return columns;
  return columns.map((column) => {
    const unit = units.get(column.name);
    return unit === undefined ? column : { ...column, unit };
  });
}
