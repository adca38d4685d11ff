import { expect, test } from "vitest";
import { defaultQuery } from "../../query/query";
import { cellsSpec, cutOf, endsOf } from "./spec";

const range = { from: 0, to: 3_600_000 };
const resolved = { query: { ...defaultQuery("t"), bucket: "1m" }, columns: [], range };
const ends = { least: 10, p01: 100, p99: 90_000, most: 5_000_000 };

test("values that reach far are cut by their logarithms, unless the address says otherwise", () => {
  expect(cutOf(ends, "")).toEqual({ log: true, step: 0.125 });
  expect(cutOf(ends, "linear")).toEqual({ log: false, step: 5000 });
  expect(cutOf({ least: -5, p01: -2, p99: 58, most: 60 }, "")).toEqual({ log: false, step: 2 });
  expect(cutOf({ least: -5, p01: -3, p99: -1, most: -1 }, "log").log).toBe(false);
});

test("cells are events by time and row", () => {
  expect(cellsSpec(resolved, "a", ends, cutOf(ends, ""))).toMatchObject({
    filter: ["a > 0"],
    bucket: "1m",
    group_by: ["floor(log10(a) * 8) AS row"],
    aggregates: ["count(*)"],
  });
  const linear = cellsSpec(resolved, "a", ends, cutOf(ends, "linear"));
  expect(linear.filter).toEqual(["a >= 0 AND a < 95000"]);
  expect(linear.group_by).toEqual(["floor(a / 5000) AS row"]);
});

test("no value is no end", () => {
  expect(endsOf(undefined)).toBeNull();
});
