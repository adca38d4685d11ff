import type { Query } from "./query";
import { bucketOf, type Range } from "./time";
import type { IgnoredPart } from "./viewManifest";

/** That the buckets of a query are longer than it says, where there would be too many. */
export function widenedBucket(query: Query, range: Range): IgnoredPart[] {
  const used = bucketOf(query, range);
  if (query.bucket === "auto" || query.bucket === used) return [];
  const why = `is too short for this time range; ${used} is used`;
  return [{ part: `bucket=${query.bucket}`, why }];
}
