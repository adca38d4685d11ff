import { expect, it } from "vitest";
import { defaultQuery, type Query } from "../../query/query";
import { barsSpec, facetSpec, headlineSpec } from "./spec";

const resolved = (over: Partial<Query>) => ({
  query: { ...defaultQuery("t"), ...over },
  columns: [],
  range: { from: 0, to: 3_600_000 },
});

it("asks for values by the measure, and for intervals where these rank them", () => {
  const counts = facetSpec(resolved({}), "service");
  expect(counts).toMatchObject({ aggregates: ["count(*)"], group_by: ["service"], limit: 101 });
  expect(counts.intervals).toBeUndefined();
  // Rare values have extreme percentiles: the frequent ones are asked for, and ranked here.
  const slow = facetSpec(resolved({ measures: ["p95(a)"] }), "service");
  expect(slow.order_by).toEqual(["count(*) DESC NULLS LAST"]);
  expect(slow.intervals).toBeUndefined();
  const share = facetSpec(resolved({ measures: ["avg(a > 1)"] }), "service");
  expect(share.intervals).toBe(true);
  const sums = facetSpec(resolved({ measures: ["sum(a) AS total"] }), "service");
  expect(sums.order_by).toEqual(["sum(a) DESC NULLS LAST"]);
  const compared = facetSpec(resolved({ compare: "1d" }), "service");
  expect(compared).toMatchObject({ intervals: true, compare: { shift: "1d" }, limit: 2000 });
});

it("divides compared rates by the length of the range", () => {
  const spec = headlineSpec(resolved({ compare: "1d" }), ["per_second(count(*))"]);
  expect(spec.aggregates).toEqual(["count(*) / 3600"]);
});

it("draws long tails by powers of two", () => {
  const spec = (p99: number) => barsSpec(resolved({}), "a", { p1: 1, p50: 10, p95: 50, p99 });
  expect(spec(100).aggregates).toEqual(["histogram(a, 24) AS spread"]);
  expect(spec(1000).aggregates).toEqual(["histogram_log(a, 2) AS spread"]);
});
