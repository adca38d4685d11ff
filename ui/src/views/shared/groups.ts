// Groups of rows with their measures, those of the compared time, and what all groups come to.

import { numberOf } from "../../api/client";
import type { Answer, Cell, QuerySpec, Type } from "../../api/types";
import { comparable, isAdditive } from "../../query/measure";
import type { Query } from "../../query/query";
import {
  aggregatesOf,
  baseSpec,
  compareOf,
  EVENTS,
  orderOf,
  type ResolvedQuery,
} from "../../query/spec";
import { withoutAlias } from "../../query/sql";

/** A measure of a group, at both times of a comparison. */
export interface Value {
  readonly now: number | null;
  /** Null where there was none, and without a comparison. */
  readonly before: number | null;
}

export interface GroupRow {
  readonly keys: readonly Cell[];
  /** One for each aggregate of the request. */
  readonly values: readonly Value[];
  readonly samples: number;
}

export interface Groups {
  readonly rows: readonly GroupRow[];
  readonly keyTypes: readonly Type[];
  readonly keyNames: readonly string[];
  readonly aggregates: readonly string[];
  /** Of all groups; null where rows may be in several groups. */
  readonly total: GroupRow | null;
  readonly compared: boolean;
  /** Whether there may be more groups than these. */
  readonly cut: boolean;
}

/** Whether rows can be in several groups, which then have no total. */
export const sharesRows = (group: readonly string[]): boolean =>
  group.some((it) => /^\s*(unnest|prefixes)\s*\(/i.test(it));

/** The request of groups, the largest first. The two times of a comparison are columns. */
export function groupsSpec(
  resolved: ResolvedQuery,
  group: readonly string[],
  limit: number,
): QuerySpec {
  const { query, range } = resolved;
  const { by, ascending } = orderOf(query);
  const { compare } = compareOf(resolved);
  const order = query.measures.includes(by) && !ascending ? by : (query.measures[0] ?? EVENTS);
  // The server has no rates of two times as columns.
  const fitting = (measure: string) => (compare ? comparable(measure, range) : measure);
  return {
    ...baseSpec(resolved),
    group_by: [...group],
    aggregates: aggregatesOf(query).map(fitting),
    order_by: [`${withoutAlias(fitting(order))} DESC NULLS LAST`],
    limit,
    ...(group.length === 0 || sharesRows(group) ? {} : { totals: true }),
    ...(compare ? { compare: { ...compare, columns: true } } : {}),
  };
}

/** The groups of an answer to `groupsSpec`. */
export function groupsOf(answer: Answer, query: Query, keys: number, limit: number): Groups {
  const aggregates = aggregatesOf(query);
  const compared = answer.columns.length > keys + aggregates.length;
  const stride = compared ? 4 : 1;
  const rows = answer.rows.map((row, at) => ({
    keys: row.slice(0, keys),
    values: aggregates.map((_, place) => ({
      now: numberOf(row[keys + place * stride]),
      before: compared ? numberOf(row[keys + place * stride + 1]) : null,
    })),
    samples: answer.samples?.[at] ?? 0,
  }));
  const isTotal = (at: number) => answer.row_kinds?.[at] === "total";
  const groups = rows.filter((_, at) => !isTotal(at));
  // The server sorts by both times together.
  const place = Math.max(0, aggregates.indexOf(orderOf(query).by));
  const size = (row: GroupRow) => row.values[place]?.now ?? Number.NEGATIVE_INFINITY;
  if (compared) groups.sort((a, b) => size(b) - size(a) || 0);
  const heads = answer.columns.slice(0, keys);
  return {
    rows: groups,
    keyTypes: heads.map(({ type }) => type),
    keyNames: heads.map(({ name }) => name),
    aggregates,
    total: rows.find((_, at) => isTotal(at)) ?? (keys === 0 ? (rows[0] ?? null) : null),
    compared,
    cut: groups.length >= limit,
  };
}

/** What the groups beyond the shown ones come to; null if that is not known. */
export function restOf(groups: Groups, at: number): Value | null {
  const { rows, total, cut, compared } = groups;
  if (!cut || !total || !isAdditive(groups.aggregates[at] ?? "")) return null;
  const rest = (read: (value: Value | undefined) => number | null | undefined) =>
    (read(total.values[at]) ?? 0) - rows.reduce((sum, it) => sum + (read(it.values[at]) ?? 0), 0);
  return { now: rest((it) => it?.now), before: compared ? rest((it) => it?.before) : null };
}

/** The stored rows and the events behind groups, for the corner; null where rows are shared. */
export function rowCountsOf(groups: Groups): { samples: number; events: number | null } | null {
  if (!groups.total) return null;
  const events = groups.total.values[groups.aggregates.indexOf(EVENTS)]?.now ?? null;
  return { samples: groups.total.samples, events };
}
