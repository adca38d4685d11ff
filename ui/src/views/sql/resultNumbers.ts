// How the numbers of a result read: in the unit of what they are computed from, and as short as the
// other views write them.

import type { Cell, Column } from "../../api/types";
import { exact, short } from "../../base/format";
import { inUnit, type Unit, unitOfColumn } from "../../base/units";
import { measureParts, measureUnit, shareOf } from "../../query/measure";

/** The unit of a column of a result: that of the column it is, or of what its measure is of. */
export function resultUnit(name: string, columns: readonly Column[]): Unit | null {
  const isMeasure = measureParts(name) !== null || shareOf(name) !== null;
  return isMeasure ? measureUnit(name, columns) : unitOfColumn(columns, name);
}

/** Whole numbers of at least this size are not cut, and fractions of such numbers are rounded. */
const WHOLE_FROM = 1e4;

/** A computed number in a few characters, whole ones in full; null for what is no number. */
export function resultText(cell: Cell, unit: Unit | null): string | null {
  if (cell === null || typeof cell === "object" || typeof cell === "boolean") return null;
  const number = Number(cell);
  if (!Number.isFinite(number) || cell === "") return null;
  if (unit !== null) return inUnit(number, unit);
  if (/^-?\d+$/.test(String(cell))) return exact(String(cell));
  return Math.abs(number) < WHOLE_FROM ? short(number) : exact(Math.round(number));
}
