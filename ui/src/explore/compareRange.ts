// Comparisons that reach back to where a table has few rows, or none.

import type { Table } from "../api/types";
import { timeText, type Zone } from "../base/zone";
import { type Asked, comparedRange } from "../query/spec";

/** Whether a table has no rows of the time that a question is compared with. */
export function isUnreached(asked: Asked, { first_time: first }: Table): boolean {
  const range = comparedRange(asked);
  return range !== null && (first === null || range.to <= Date.parse(first));
}

/** What is missing of the time that a question is compared with; null if nothing is. */
export function unreached(asked: Asked, table: Table, zone: Zone): string | null {
  const range = comparedRange(asked);
  const first = table.first_time === null ? null : Date.parse(table.first_time);
  if (!range || first === null || range.from >= first) return null;
  const begins = `${table.name} begins at ${timeText(first, zone)}`;
  const span = `${timeText(range.from, zone)} – ${timeText(range.to, zone)}`;
  if (isUnreached(asked, table)) return `No data in the compared range, ${span}: ${begins}.`;
  return `A part of the compared range, ${span}, has no data: ${begins}.`;
}
