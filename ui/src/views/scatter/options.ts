import { defaultNumberColumn } from "../../explore/columnRanking";
import type { ResolvedQuery } from "../../query/spec";
import { columnOption, optionOf } from "../../query/viewManifest";

/** The columns to the right and upwards; empty: the number columns with most different values. */
export const X = columnOption("x", ["number"]);
export const Y = columnOption("y", ["number"]);

/** The columns that a query draws; null if the table has fewer than two number columns. */
export function axesOf({ query, columns }: ResolvedQuery): { x: string; y: string } | null {
  const named = (name: string) =>
    columns.find((it) => it.name === name && it.type === "number")?.name;
  const [givenX, givenY] = [named(optionOf(query, X)), named(optionOf(query, Y))];
  const free = columns.filter(({ name }) => name !== givenX && name !== givenY);
  const first = defaultNumberColumn(free)?.name;
  const second = defaultNumberColumn(free.filter(({ name }) => name !== first))?.name;
  const x = givenX ?? first;
  const y = givenY ?? (givenX === undefined ? second : first);
  return x !== undefined && y !== undefined ? { x, y } : null;
}
