// The values of a column with the measure of each, now and before, ranked so that chance does not
// come first: by what a number or a change is at least, with 95 % confidence.

import { numberOf } from "../../api/client";
import { type Interval, intervalOf } from "../../api/intervals";
import type { Answer, Cell } from "../../api/types";
import { sides } from "../../explore/answers";

export interface FacetRow {
  readonly value: Cell;
  readonly now: number | null;
  /** The same earlier; null where there was none, or nothing is compared. */
  readonly before: number | null;
  readonly interval: Interval | null;
  readonly samples: number;
  /** Whether too few rows are behind its numbers to lean on them. */
  readonly few: boolean;
  /** `now` less `before`; null where one of them is not there. */
  readonly difference: number | null;
}

/** The key of a row among those of its facet. */
export const keyOf = ({ value }: Pick<FacetRow, "value">): string => JSON.stringify(value);

/** Rows in the order of these keys, those of other keys behind them as they are. */
export function inOrder(rows: readonly FacetRow[], keys: readonly string[]): FacetRow[] {
  const places = new Map(keys.map((key, at) => [key, at]));
  const place = (row: FacetRow) => places.get(keyOf(row)) ?? keys.length;
  return rows.toSorted((a, b) => place(a) - place(b));
}

/** Whether a larger number stands below a smaller one: the order needs a word then. */
export const looksUnsorted = (rows: readonly FacetRow[]): boolean =>
  rows.some(({ now }, at) => now !== null && now > (rows[at - 1]?.now ?? Number.POSITIVE_INFINITY));

export type FacetOrder = "value" | "change";

/** Values of fewer rows have no reliable mean, percentile or change. */
const FEW = 30;

interface Side {
  readonly number: number | null;
  readonly interval: Interval | "too_few" | null;
  readonly samples: number;
}

/** The rows of an answer to `facetSpec`, best first. What adds up is zero where there is nothing. */
export function facetRows(answer: Answer, additive: boolean, order: FacetOrder): FacetRow[] {
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const values = new Map<string, { value: Cell; now?: Side; before?: Side }>();
  const add = (entries: readonly [Cell[], number][], side: "now" | "before") => {
    for (const [row, at] of entries) {
      const value = row[first] ?? null;
      const key = JSON.stringify(value);
      const entry = values.get(key) ?? { value };
      const number = numberOf(row[first + 1]);
      const interval = intervalOf(answer, at, first + 1);
      entry[side] = { number, interval, samples: answer.samples?.[at] ?? 0 };
      values.set(key, entry);
    }
  };
  add(now, "now");
  add(before ?? [], "before");
  const compared = before !== null;
  const ranked = [...values.values()].map(({ value, ...both }) => {
    const row = rowOf(value, both, { compared, additive });
    return { row, rank: order === "change" ? leastChange(both, row) : leastValue(row, additive) };
  });
  return ranked
    .sort(
      (a, b) =>
        Number(a.row.few) - Number(b.row.few) ||
        b.rank - a.rank ||
        (b.row.now ?? -1) - (a.row.now ?? -1),
    )
    .map(({ row }) => row);
}

function rowOf(
  value: Cell,
  both: { now?: Side; before?: Side },
  { compared, additive }: { compared: boolean; additive: boolean },
): FacetRow {
  const nothing = additive ? 0 : null;
  const now = both.now?.number ?? nothing;
  const before = compared ? (both.before?.number ?? nothing) : null;
  const samples = both.now?.samples ?? 0;
  const most = Math.max(samples, both.before?.samples ?? 0);
  const interval = both.now?.interval ?? null;
  const tooFew = interval === "too_few" || both.before?.interval === "too_few";
  const few = additive ? compared && most < FEW : tooFew || samples < FEW;
  const difference = now !== null && before !== null ? now - before : null;
  return {
    value,
    now,
    before,
    samples,
    few,
    difference,
    interval: interval === "too_few" ? null : interval,
  };
}

function leastValue({ now, interval }: FacetRow, additive: boolean): number {
  if (additive || interval === null || now === null) return now ?? Number.NEGATIVE_INFINITY;
  // What may be nothing at all is no more than nothing.
  return now >= 0 ? Math.max(0, interval.low) : interval.low;
}

/** How large a change is at least: what chance can explain is taken off. */
function leastChange(both: { now?: Side; before?: Side }, { now, difference }: FacetRow): number {
  if (difference === null) return now === null ? 0 : chanceLess(now, [both.now]);
  return chanceLess(difference, [both.now, both.before]);
}

function chanceLess(difference: number, of: readonly (Side | undefined)[]): number {
  const halves = of.map((side) =>
    side && side.interval !== null && side.interval !== "too_few"
      ? (side.interval.high - side.interval.low) / 2
      : 0,
  );
  return Math.max(0, Math.abs(difference) - Math.hypot(...halves));
}
