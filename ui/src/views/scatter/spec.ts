// The requests of the scatter plot: rows chosen at random, also of the compared time.

import type { QuerySpec } from "../../api/types";
import { baseSpec, comparedRange, type ResolvedQuery } from "../../query/spec";
import { quoteName } from "../../query/sql";

/** As many rows are drawn. */
export const ROWS_MOST = 2000;

/** Rows that have both numbers, each as likely as any other; the same ones when asked again. */
export function scatterSpec(
  resolved: ResolvedQuery,
  { x, y }: { x: string; y: string },
): QuerySpec {
  const { filter = [], ...rest } = baseSpec(resolved);
  const [right, up] = [quoteName(x), quoteName(y)];
  return {
    ...rest,
    filter: [...filter, `${right} IS NOT NULL`, `${up} IS NOT NULL`],
    columns: [`${right} AS x`, `${up} AS y`, ...resolved.query.group.slice(0, 1)],
    order_by: ["random(1)"],
    limit: ROWS_MOST,
  };
}

/** The same rows of the compared time; null without one. */
export function beforeSpec(
  resolved: ResolvedQuery,
  axes: { x: string; y: string },
): QuerySpec | null {
  const range = comparedRange(resolved);
  return range && scatterSpec({ ...resolved, range }, axes);
}
