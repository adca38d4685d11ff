import type { ResolvedQuery } from "../../query/spec";
import { columnOption, optionOf } from "../../query/viewManifest";

/** The vector column whose beginnings are drawn; empty: the first one. */
export const PATH = columnOption("path", ["vector"]);

/** The column that a query draws; undefined if the table has no vector column. */
export function pathOf({ query, columns }: ResolvedQuery): string | undefined {
  const vectors = columns.filter(({ type }) => type === "vector");
  const name = optionOf(query, PATH);
  return (vectors.find((it) => it.name === name) ?? vectors[0])?.name;
}
