// From the answer of a heat map to its cells: buckets of time by rows of values.

import { numberOf } from "../../api/client";
import type { Answer } from "../../api/types";
import { type Buckets, bucketAt } from "../../query/buckets";

/** How values are cut into rows: by a step, or by a part of a power of ten. */
export interface Cut {
  readonly log: boolean;
  /** The height of a row: a difference of values, or of their decimal logarithms. */
  readonly step: number;
}

export interface Heat {
  readonly cut: Cut;
  /** Where each bucket begins, in milliseconds, and how long it is. */
  readonly starts: readonly number[];
  readonly length: number;
  /** The number of the lowest row, in steps from zero; and how many rows there are. */
  readonly lowest: number;
  readonly rows: number;
  /** Events of each cell: bucket by bucket, from the lowest row to the highest. */
  readonly now: Float64Array;
  /** The same at the compared time; null where nothing is compared. */
  readonly before: Float64Array | null;
}

/** More rows than this are not drawn; one value far away would squeeze all others. */
const ROWS_MOST = 120;

/** The cells of an answer with columns (side,) time, row, events. */
export function heatOf(answer: Answer, cut: Cut, buckets: Buckets, length: number): Heat | null {
  const compared = answer.columns[0]?.name === "side";
  const first = compared ? 1 : 0;
  const { starts } = buckets;
  const cells = answer.rows.flatMap((row) => {
    const bucket = bucketAt(buckets, Date.parse(String(row[first])));
    const place = numberOf(row[first + 1]);
    const events = numberOf(row[first + 2]);
    if (bucket < 0 || place === null || events === null) return [];
    return [{ bucket, place, events, was: compared && row[0] === "before" }];
  });
  if (cells.length === 0) return null;
  const lowest = cells.reduce((least, { place }) => Math.min(least, place), cells[0]?.place ?? 0);
  const highest = cells.reduce((most, { place }) => Math.max(most, place), lowest);
  const rows = Math.min(ROWS_MOST, highest - lowest + 1);
  const now = new Float64Array(starts.length * rows);
  const before = compared ? new Float64Array(starts.length * rows) : null;
  for (const { bucket, place, events, was } of cells) {
    const row = Math.min(rows - 1, place - lowest);
    const side = was ? before : now;
    if (side) side[bucket * rows + row] = (side[bucket * rows + row] ?? 0) + events;
  }
  return { cut, starts, length, lowest, rows, now, before };
}

/** The value at the lower end of a row, counted from the lowest one. */
export function rowValue({ cut, lowest }: Heat, row: number): number {
  const at = (lowest + row) * cut.step;
  return cut.log ? 10 ** at : Number(at.toPrecision(12));
}

/** How strong a cell is, from 0 to 1; with its sign where it is compared. */
export function strengths({ now, before }: Heat): Float64Array {
  const raw = before ? now.map((it, at) => it - (before[at] ?? 0)) : now;
  const most = raw.reduce((largest, it) => Math.max(largest, Math.abs(it)), 0);
  // The root, so that faint cells are seen beside much stronger ones.
  return raw.map((it) => (most > 0 ? Math.sign(it) * Math.sqrt(Math.abs(it) / most) : 0));
}
