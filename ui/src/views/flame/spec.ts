// The request of the flame graph, and what its frames stand for.

import type { QuerySpec } from "../../api/types";
import type { Query } from "../../query/query";
import { aggregatesOf, baseSpec, compareOf, EVENTS, type ResolvedQuery } from "../../query/spec";
import { quoteName, quoteText } from "../../query/sql";

/** As many frames are drawn; what is below them is summed up. */
const FRAMES_MOST = 500;

/** The beginnings of the vectors of a column with the first measure, the largest and the rest. */
export function flameSpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const { query } = resolved;
  const first = query.measures[0] ?? EVENTS;
  return {
    ...baseSpec(resolved),
    group_by: [`prefixes(${quoteName(column)})`],
    aggregates: [first, ...aggregatesOf(query).filter((it) => it !== first)],
    series: FRAMES_MOST,
    ...compareOf(resolved),
  };
}

/** The query without the rows whose vector begins with a path. */
export function withoutPath(query: Query, column: string, path: readonly string[]): Query {
  const name = quoteName(column);
  const begins = `includes_start(${name}, ${path.map(quoteText).join(", ")})`;
  const condition = `(${name} IS NULL OR NOT ${begins})`;
  if (query.where.includes(condition)) return query;
  const where = query.where.trim() === "" ? condition : `(${query.where}) AND ${condition}`;
  return { ...query, where };
}
