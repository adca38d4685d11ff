// The requests of the live tail: the newest rows, and how many events come.

import type { QuerySpec } from "../../api/types";
import { baseSpec, EVENTS, type ResolvedQuery } from "../../query/spec";

const ROWS = 100;
/** The rate of events is that of the last seconds. */
export const RATE_SECONDS = 10;

/** The newest rows that match, whenever the range of the query ends. */
export function tailSpec(resolved: ResolvedQuery): QuerySpec {
  const { to: _to, ...rest } = baseSpec(resolved);
  return { ...rest, limit: ROWS };
}

/** How many events came in the last seconds. */
export function rateSpec(resolved: ResolvedQuery): QuerySpec {
  return { ...tailSpec(resolved), from: `-${RATE_SECONDS}s`, limit: 1, aggregates: [EVENTS] };
}
