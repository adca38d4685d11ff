// The requests of big numbers: the measures of all rows, and over time.

import type { QuerySpec } from "../../api/types";
import { comparable } from "../../query/measure";
import { aggregatesOf, baseSpec, compareOf, type ResolvedQuery } from "../../query/spec";

/** The query without its groups. */
export function numberQuery(resolved: ResolvedQuery): ResolvedQuery {
  return { ...resolved, query: { ...resolved.query, group: [] } };
}

/** Each measure over the whole range, and over the compared one. */
export function wholeSpec(resolved: ResolvedQuery): QuerySpec {
  const { query, range } = resolved;
  const compared = compareOf(resolved);
  const measures = aggregatesOf(query);
  return {
    ...baseSpec(resolved),
    aggregates: compared.compare ? measures.map((it) => comparable(it, range)) : measures,
    ...compared,
  };
}
