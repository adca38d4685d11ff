// The value of each series over the whole range, for measures that do not add up: the p95 of an
// hour is no sum of the p95s of its minutes.

import { numberOf } from "../../api/client";
import type { Answer, QuerySpec } from "../../api/types";
import { sides } from "../../explore/answers";
import { comparable, isAdditive } from "../../query/measure";
import { aggregatesOf, baseSpec, compareOf, EVENTS, type ResolvedQuery } from "../../query/spec";

/** Groups of both sides that are looked through for those that are drawn. */
const GROUPS_MOST = 2000;

/** The measures of each group over the whole range; null if the buckets sum up to all of them. */
export function wholeSpec(resolved: ResolvedQuery): QuerySpec | null {
  const { query, range } = resolved;
  if (query.measures.every(isAdditive)) return null;
  const compared = compareOf(resolved);
  const measures = aggregatesOf(query);
  const grouped = query.group.length > 0;
  return {
    ...baseSpec(resolved),
    ...(grouped
      ? { group_by: [...query.group], order_by: [`${EVENTS} DESC`], limit: GROUPS_MOST }
      : {}),
    aggregates: compared.compare ? measures.map((it) => comparable(it, range)) : measures,
    ...compared,
  };
}

/** A measure of a series, now and before; null where there is none. */
export interface Whole {
  readonly now: number | null;
  readonly before: number | null;
}

/** A measure of each series over the whole range, by the keys of the series. */
export function wholeRange(
  answer: Answer,
  resolved: ResolvedQuery,
  at: number,
): Map<string, Whole> {
  const { group, measures } = resolved.query;
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const wholes = new Map<string, { now: number | null; before: number | null }>();
  const add = (rows: typeof now, side: "now" | "before") => {
    for (const [row] of rows) {
      const keys = row.slice(first, first + group.length);
      const key = group.length > 0 ? JSON.stringify(keys) : (measures[at] ?? "");
      const whole = wholes.get(key) ?? { now: null, before: null };
      whole[side] = numberOf(row[first + group.length + at]);
      wholes.set(key, whole);
    }
  };
  add(now, "now");
  add(before ?? [], "before");
  return wholes;
}
