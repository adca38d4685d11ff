// The request of the samples.

import type { QuerySpec } from "../../api/types";
import { LIMIT_MAX } from "../../query/query";
import { baseSpec, type ResolvedQuery } from "../../query/spec";

/** Raw rows, newest first. */
export function samplesSpec(resolved: ResolvedQuery, limit = resolved.query.limit): QuerySpec {
  return { ...baseSpec(resolved), limit: Math.min(limit, LIMIT_MAX) };
}
