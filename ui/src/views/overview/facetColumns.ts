// Which columns the overview draws facets of.

import { numberOf } from "../../api/client";
import type { Column } from "../../api/types";
import { isIdentifier, rankColumns, rankNumbers } from "../../explore/columnRanking";
import type { Query } from "../../query/query";

/** Facets of values at most. */
export const FACETS = 6;
const NUMBERS = 3;
/** Numbers of at most so many distinct values are codes rather than measurements. */
const CODES = 30;

/** Whether it is known by now what the values of some column are like. */
export const haveStats = (columns: readonly Column[]): boolean =>
  columns.some((column) => column.distinct !== null);

/** The columns whose values are drawn. */
export const valueColumns = (columns: readonly Column[], query: Query): Column[] =>
  rankColumns(columns, query, FACETS);

/** The number columns whose spread is drawn, beside these facets. */
export function numberColumns(columns: readonly Column[], facets: readonly Column[]): Column[] {
  const names = new Set(facets.map(({ name }) => name));
  const measured = rankNumbers(columns).filter(
    (it) => !names.has(it.name) && !isIdentifier(it) && (numberOf(it.distinct) ?? 0) > CODES,
  );
  return measured.slice(0, NUMBERS);
}
