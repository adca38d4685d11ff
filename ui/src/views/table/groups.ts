// The rows of the table view: groups, their measures now and before, and the number of rows behind
// these measures.

import { numberOf } from "../../api/client";
import type { Answer, Cell, Type } from "../../api/types";
import { columnIndex, sides } from "../../explore/answers";
import { isAdditive } from "../../query/measure";
import type { Query } from "../../query/query";
import { EVENTS, orderOf } from "../../query/spec";
import { COMPARED_MOST } from "./spec";

export interface GroupRow {
  readonly keys: readonly Cell[];
  readonly measures: readonly Cell[];
  /** The same measures before; null where the group did not exist, or nothing is compared. */
  readonly before: readonly Cell[] | null;
  readonly samples: number;
  /** Whether it rests on few stored rows, before as well: chance moves its numbers. */
  readonly few: boolean;
}

/** Numbers of fewer stored rows are unreliable. */
const FEW_SAMPLES = 10;

export interface GroupTable {
  readonly keyNames: readonly string[];
  readonly keyTypes: readonly Type[];
  readonly rows: readonly GroupRow[];
  /** Groups that were found in all, before the limit. */
  readonly found: number;
  readonly compared: boolean;
  /** Whether the stored rows are other numbers than the events: then both are of interest. */
  readonly sampled: boolean;
  /** Whether there may be more groups than were compared. */
  readonly partly: boolean;
}

/** What the rows depend on, of a query. */
type Asked = Pick<Query, "group" | "measures" | "order" | "compare" | "limit">;

/** Joins the two sides of an answer to `tableSpec`, sorts and cuts them as the query says. */
export function groupTable(answer: Answer, query: Asked): GroupTable {
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const measuresAt = first + query.group.length;
  const measuresOf = (row: Cell[]) => row.slice(measuresAt, measuresAt + query.measures.length);
  const keysOf = (row: Cell[]) => row.slice(first, measuresAt);
  const samplesAt = (at: number | undefined) =>
    at === undefined ? 0 : (answer.samples?.[at] ?? 0);
  const earlier = new Map(before?.map(([row, at]) => [JSON.stringify(keysOf(row)), { row, at }]));
  const rows: GroupRow[] = now.map(([row, at]) => {
    const key = JSON.stringify(keysOf(row));
    const was = earlier.get(key);
    earlier.delete(key);
    return {
      keys: keysOf(row),
      measures: measuresOf(row),
      before: was ? measuresOf(was.row) : null,
      samples: samplesAt(at),
      few: Math.max(samplesAt(at), samplesAt(was?.at)) < FEW_SAMPLES,
    };
  });
  // Groups that are no more are news as well.
  for (const { row, at } of earlier.values()) {
    rows.push({
      keys: keysOf(row),
      measures: measuresOf(row).map(() => null),
      before: measuresOf(row),
      samples: 0,
      few: samplesAt(at) < FEW_SAMPLES,
    });
  }
  if (before !== null) sortRows(rows, query);
  const heads = answer.columns.slice(first, measuresAt);
  return {
    keyNames: heads.map((column) => column.name),
    keyTypes: heads.map((column) => column.type),
    rows: rows.slice(0, query.limit),
    found: rows.length,
    compared: before !== null,
    sampled: isSampled(answer),
    partly: before !== null && answer.rows.length >= COMPARED_MOST,
  };
}

/** Whether some rows stand for several events, or it is not known that none does. */
function isSampled(answer: Answer): boolean {
  const events = columnIndex(answer, EVENTS);
  if (events < 0 || !answer.samples) return true;
  return answer.rows.some((row, at) => numberOf(row[events]) !== answer.samples?.[at]);
}

function sortRows(rows: GroupRow[], query: Asked): void {
  const { by, ascending, change } = orderOf(query);
  const measure = query.measures.indexOf(by);
  const group = query.group.indexOf(by);
  if (change) {
    const moved = new Map(rows.map((row) => [row, changeOf(row, measure)]));
    const place = (row: GroupRow) => moved.get(row) ?? null;
    // What few rows moved is chance more often than news.
    rows.sort((a, b) => Number(a.few) - Number(b.few) || order(place(a), place(b), ascending));
    return;
  }
  const cell = (row: GroupRow) => (measure >= 0 ? row.measures[measure] : row.keys[group]) ?? null;
  rows.sort((a, b) => order(cell(a), cell(b), ascending));
}

/** By how much of itself a measure changed; what is new changed without end. */
function changeOf(row: GroupRow, measure: number): number | null {
  const now = numberOf(row.measures[measure]);
  const before = numberOf(row.before?.[measure]);
  if (now === null) return before === null ? null : -1;
  if (before === null) return Number.POSITIVE_INFINITY;
  if (before === 0) return now === 0 ? 0 : now * Number.POSITIVE_INFINITY;
  return (now - before) / Math.abs(before);
}

/** Numbers by size, texts by letters, what is missing last. */
function order(a: Cell, b: Cell, ascending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== null && x === y) return 0;
  const difference = x !== null && y !== null ? x - y : String(a) < String(b) ? -1 : 1;
  return ascending ? difference : -difference;
}

/** What the groups beyond the shown ones hold: the total less the shown, where that adds up. */
export function otherMeasures(
  query: Query,
  shown: readonly (readonly Cell[])[],
  total: readonly Cell[],
): (number | null)[] {
  return query.measures.map((measure, at) => {
    const whole = numberOf(total[at]);
    if (!isAdditive(measure) || whole === null) return null;
    return whole - shown.reduce((sum, row) => sum + (numberOf(row[at]) ?? 0), 0);
  });
}

/** All groups together, now and before; null before where nothing is compared. */
export interface Totals {
  readonly now: readonly Cell[];
  readonly before: readonly Cell[] | null;
}

/** The only row of an answer without groups, of the present side and of the one before. */
export function totalsOf(answer: Answer | undefined): Totals | null {
  if (!answer) return null;
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const row = now[0]?.[0].slice(first);
  return row ? { now: row, before: before?.[0]?.[0].slice(first) ?? null } : null;
}
