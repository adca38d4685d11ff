import { expect, it } from "vitest";
import type { Column } from "../api/types";
import { defaultQuery, type Query } from "./query";
import { comparedRange, compareOf, type ResolvedQuery, seriesRange, valuesSpec } from "./spec";

const columns = [
  { name: "service", type: "string" },
  { name: "status", type: "number" },
] as Column[];

function resolved(over: Partial<Query>): ResolvedQuery {
  const query: Query = { ...defaultQuery("t"), ...over };
  return { query, columns, range: { from: 0, to: 3_600_000 } };
}

it("counts values of a column over what the query is about, but for the column itself", () => {
  const filters = [
    { column: "service", operator: "=", values: ["gateway"] } as const,
    { column: "status", operator: ">=", values: ["500"] } as const,
  ];
  const query = resolved({ filters, search: "slow" });
  const typed = valuesSpec(query, { name: "service", type: "string" }, "50%_O'", 20);
  expect(typed).toMatchObject({ search: "slow", limit: 20, group_by: ["service"] });
  expect(typed.filter).toEqual(["status >= 500", "service ILIKE '%50\\%\\_O''%'"]);
  const listed = valuesSpec(query, { name: "status", type: "number" }, "5", 20);
  expect(listed.filter).toEqual(["service = 'gateway'", "CAST(status AS string) ILIKE '%5%'"]);
  expect(
    valuesSpec(resolved({}), { name: "status", type: "number" }, "", 20).filter,
  ).toBeUndefined();
});

it("compares with the time just before, by whole buckets, which no bucket is on both sides of", () => {
  const [from, length] = [Date.parse("2026-11-20T10:00:00Z"), 3_600_000];
  const query = { ...defaultQuery("t"), compare: "previous" };
  const shiftOf = (range: { from: number; to: number }) =>
    compareOf({ query, columns: [], range }).compare?.shift;
  expect(shiftOf({ from, to: from + length })).toBe("1h");
  // The first bucket is cut: with an hour, a part of it would be on both sides.
  const cut = { from: from + 5000, to: from + 5000 + length };
  expect(shiftOf(cut)).toBe("3630s");
  expect(seriesRange({ query, columns: [], range: cut }).range).toEqual(cut);
  expect(comparedRange({ query, columns: [], range: cut })?.to).toBeLessThanOrEqual(cut.from);
  const days = { from, to: from + 14 * 24 * length };
  expect(compareOf({ query, columns: [], range: days }).compare?.shift).toBe("14d");
});
