// Raw rows as a table shows them: which columns are shown, and how a row is recognised as the same
// row.

import type { Answer, Cell } from "../../api/types";
import { isHit } from "../../explore/CellText";
import type { Query } from "../../query/query";
import { columnOf, withoutAlias } from "../../query/sql";

/** More columns than this are neither read nor drawn quickly; a row's detail has all. */
export const MOST_COLUMNS = 60;

/**
 * The columns that have a value in some row: the time, those that the query or an option of a view
 * names, then short ones.
 * Those that were there `before` keep their order, so that nothing moves while rows come in.
 */
export function columnOrder(
  answer: Answer,
  query: Query,
  before: readonly string[] = [],
  ofOptions: readonly string[] = [],
): number[] {
  const named = new Set([...namesOf(query), ...ofOptions]);
  const previous = new Map(before.map((name, at) => [name, at]));
  const previousIndex = (at: number) =>
    previous.get(answer.columns[at]?.name ?? "") ?? previous.size;
  const weight = (at: number): number => {
    const { name, type } = answer.columns[at] ?? { name: "", type: "null" };
    if (type === "time") return at === 0 ? -4000 : -3000;
    if (query.search !== "" && answer.rows.some((row) => isHit(row[at], query.search))) {
      return -2000;
    }
    if (named.has(name)) return -1000;
    if (name === "sample_rate") return 1000;
    let length = 0;
    let filled = 0;
    for (const row of answer.rows) {
      const size = row[at] === null ? 0 : String(row[at]).length;
      length += size;
      if (size > 0) filled += 1;
    }
    // Short and mostly filled ones can be compared down the page.
    const missing = 1 - filled / answer.rows.length;
    return length / Math.max(filled, 1) + 40 * missing + (type === "number" ? 8 : 0);
  };
  return answer.columns
    .map((_, at) => at)
    .filter((at) => answer.rows.some((row) => row[at] !== null))
    .map((at): [number, number] => [at, weight(at)])
    .sort((a, b) => previousIndex(a[0]) - previousIndex(b[0]) || a[1] - b[1])
    .map(([at]) => at);
}

/** The places of chosen columns, in their order; those of `usual` where none of them is there. */
export function chosenPlaces(
  answer: Answer,
  names: readonly string[],
  usual: readonly number[],
): readonly number[] {
  const places = names
    .map((name) => answer.columns.findIndex((column) => column.name === name))
    .filter((at) => at >= 0);
  return places.length > 0 ? places : usual;
}

/** The columns that the shared query names. */
function namesOf({ filters, group, measures }: Query): string[] {
  const inside = measures.map((it) => /\((.*)\)$/.exec(withoutAlias(it))?.[1] ?? "");
  const named = [...group, ...inside].flatMap((it) => columnOf(it) ?? []);
  return [...filters.map((it) => it.column), ...named];
}

/** A row by what it holds, since rows have no numbers; columns that come later do not matter. */
export function rowKey(row: readonly Cell[], answer: Answer): string {
  return JSON.stringify(
    row.flatMap((cell, at) => (cell === null ? [] : [answer.columns[at]?.name, cell])),
  );
}

/** A row as an object of its columns that have a value. No name of a column is special. */
export function rowObject(row: readonly Cell[], answer: Answer): object {
  const entries = row.flatMap((cell, at): [string, Cell][] =>
    cell === null ? [] : [[answer.columns[at]?.name ?? "", cell]],
  );
  return Object.fromEntries(entries);
}

/** A row that is drawn: its key, and one that no other row of the same answer has. */
export interface DrawnRow {
  readonly key: string;
  readonly id: string;
  readonly row: Cell[];
}

/** The rows to draw: those of the answer, and older ones that are being read. */
export function drawnRows(
  answer: Answer,
  most: number,
  kept: ReadonlyMap<string, Cell[]>,
): DrawnRow[] {
  const counts = new Map<string, number>();
  const drawn = answer.rows.slice(0, most).map((row): DrawnRow => {
    const key = rowKey(row, answer);
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    return { key, id: `${nth} ${key}`, row };
  });
  // The newest are first, so that what newer rows pushed out belongs to the end.
  for (const [key, row] of kept) {
    if (!counts.has(key) && row.length === answer.columns.length) drawn.push({ key, id: key, row });
  }
  return drawn;
}
