// Comparisons with a time before a table's first row.

import type { Table } from "../api/types";
import { timeText, type Zone } from "../base/zone";
import { comparedRange, type ResolvedQuery } from "../query/spec";

/** Whether the compared range ends before a table's first row. */
export function isBeforeFirstRow(resolved: ResolvedQuery, { first_time: first }: Table): boolean {
  const range = comparedRange(resolved);
  return range !== null && (first === null || range.to <= Date.parse(first));
}

/** Which part of the compared range has no data, in words; null if none. */
export function compareGapWords(resolved: ResolvedQuery, table: Table, zone: Zone): string | null {
  const range = comparedRange(resolved);
  const first = table.first_time === null ? null : Date.parse(table.first_time);
  if (!range || first === null || range.from >= first) return null;
  const begins = `${table.name} begins at ${timeText(first, zone)}`;
  const span = `${timeText(range.from, zone)} – ${timeText(range.to, zone)}`;
  if (isBeforeFirstRow(resolved, table))
    return `No data in the compared range, ${span}: ${begins}.`;
  return `A part of the compared range, ${span}, has no data: ${begins}.`;
}
