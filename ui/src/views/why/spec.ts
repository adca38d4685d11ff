// The two sides whose difference is explained: now and before, or the filtered rows and the rest.

import type { Condition, SidesOf } from "../../api/explain";
import type { Cell, QuerySpec } from "../../api/types";
import { count, exact, visible } from "../../base/format";
import { filterSql, typeOf } from "../../query/filter";
import type { Query } from "../../query/query";
import { SELECTED } from "../../query/selection";
import { baseSpec, compareOf, EVENTS, type ResolvedQuery } from "../../query/spec";
import { optionOf } from "../../query/viewManifest";

export interface Sides {
  /** The rows of both sides. */
  readonly rows: QuerySpec;
  readonly sides: SidesOf;
  /** What the sides are called. */
  readonly names: readonly [string, string];
}

/** The sides of a query; null if it has no selection, no comparison and no filters. */
export function sidesOf(resolved: ResolvedQuery): Sides | null {
  const { query, columns } = resolved;
  const selected = optionOf(query, SELECTED).trim();
  if (selected !== "") {
    const sides = { where: selected };
    return { rows: baseSpec(resolved), sides, names: ["selected rows", "the rest"] };
  }
  const { compare } = compareOf(resolved);
  if (compare) {
    return { rows: baseSpec(resolved), sides: { shift: compare.shift }, names: ["now", "before"] };
  }
  const conditions = query.filters.map((it) => filterSql(it, typeOf(columns, it.column)));
  if (query.where.trim() !== "") conditions.push(query.where.trim());
  if (conditions.length === 0) return null;
  // A comment of SQL ends with the line.
  const where = conditions.map((it) => `(${it}\n)`).join(" AND ");
  const rows = baseSpec({ ...resolved, query: { ...query, filters: [], where: "" } });
  return { rows, sides: { where }, names: ["filtered rows", "the rest"] };
}

/** The events of the selection: what the view's corner is about. */
export function selectionSpec(resolved: ResolvedQuery): QuerySpec {
  const { filter = [], ...rest } = baseSpec(resolved);
  const selected = optionOf(resolved.query, SELECTED).trim();
  const filters = selected === "" ? filter : [...filter, selected];
  return { ...rest, ...(filters.length > 0 ? { filter: filters } : {}), aggregates: [EVENTS] };
}

/** A condition as people read it: `build is r4830`. */
export function conditionText({ column, test, value = null, from, to }: Condition): string {
  switch (test) {
    case "is":
      return `${column} is ${cellText(value)}`;
    case "has":
      return `${column} has ${cellText(value)}`;
    case "missing":
      return `${column} is null`;
    default:
      if (from == null) return `${column} < ${exact(to ?? 0)}`;
      if (to == null) return `${column} ≥ ${exact(from)}`;
      return `${column} from ${exact(from)} to ${exact(to)}`;
  }
}

function cellText(value: Cell): string {
  if (typeof value === "string") return value === "" ? "empty text" : visible(value);
  return String(value);
}

/** How many times as large a share is: `8.2 ×`, or that the other side has none. */
export function liftText(lift: number | null): string {
  if (lift === null) return "only here";
  return lift >= 100 ? `${count(Math.round(lift))} ×` : `${Number(lift.toPrecision(2))} ×`;
}

/** The query with these conditions, too. */
export function narrowTo(query: Query, conditions: readonly Condition[]): Query {
  const sql = conditions.map((it) => `(${it.sql})`).join(" AND ");
  const { where } = query;
  if (where.includes(sql)) return query;
  return { ...query, where: where.trim() === "" ? sql : `(${where}) AND ${sql}` };
}
