// The page's query as the text that the editor begins with.

import type { QuerySpec } from "../../api/types";
import { aggregatesOf, baseSpec, orderOf, type ResolvedQuery } from "../../query/spec";
import { withoutAlias } from "../../query/sql";
import { ALL, bucketOf } from "../../query/time";

/** Groups of the page's query, or its measures over time; the range as the query says it. */
export function seedSpec(resolved: ResolvedQuery): QuerySpec {
  const { query, range } = resolved;
  const { from, to, ...rest } = baseSpec(resolved);
  const isRelative = /^(now)?-/.test(query.from) && query.to === "now";
  const times = query.from === ALL ? {} : isRelative ? { from: query.from } : { from, to };
  const rows = { ...rest, ...times, aggregates: aggregatesOf(query) } as QuerySpec;
  if (query.group.length === 0) return { ...rows, bucket: bucketOf(query, range) };
  const { by, ascending } = orderOf(query);
  const order = `${withoutAlias(by)} ${ascending ? "ASC" : "DESC NULLS LAST"}`;
  return { ...rows, group_by: [...query.group], order_by: [order], limit: query.limit };
}
