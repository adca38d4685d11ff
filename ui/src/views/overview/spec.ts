// The requests of the overview, beside the requests of the time series and of the samples.

import type { QuerySpec } from "../../api/types";
import type { Query } from "../../query/query";
import { baseSpec, EVENTS, type ResolvedQuery } from "../../query/spec";

/** How many events there are in all. */
export function eventsSpec(resolved: ResolvedQuery): QuerySpec {
  return { ...baseSpec(resolved), aggregates: [EVENTS] };
}

/** The query of the chart: the first measure, without groups. */
export function chartQuery(resolved: ResolvedQuery): ResolvedQuery {
  const { query } = resolved;
  const plain: Query = { ...query, group: [], measures: query.measures.slice(0, 1) };
  return { ...resolved, query: plain };
}
