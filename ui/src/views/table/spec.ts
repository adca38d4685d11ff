// The request of the table.

import type { QuerySpec } from "../../api/types";
import { comparable } from "../../query/measure";
import type { Query } from "../../query/query";
import { aggregatesOf, baseSpec, compareOf, orderOf, type ResolvedQuery } from "../../query/spec";
import { withoutAlias } from "../../query/sql";
import type { Range } from "../../query/time";

/** Rows of both sides that a compared table looks at. */
export const COMPARED_MOST = 20_000;

/** Groups and their measures. Compared groups are sorted and cut once both sides are joined. */
export function tableSpec(resolved: ResolvedQuery): QuerySpec {
  const { query, range } = resolved;
  const compared = compareOf(resolved);
  return {
    ...baseSpec(resolved),
    group_by: [...query.group],
    aggregates: compared.compare
      ? aggregatesOf(query).map((it) => comparable(it, range))
      : aggregatesOf(query),
    order_by: [orderSql(query, compared.compare ? range : null)],
    limit: compared.compare ? COMPARED_MOST : query.limit,
    ...compared,
  };
}

function orderSql(query: Query, compared: Range | null): string {
  const { by, ascending, change } = orderOf(query);
  // Changes are known once both sides are joined; until then the larger groups matter more.
  return `${withoutAlias(compared ? comparable(by, compared) : by)} ${ascending && !change ? "ASC NULLS LAST" : "DESC NULLS LAST"}`;
}
