import { expect, test } from "vitest";
import type { Condition } from "../../api/explain";
import { defaultQuery, PREVIOUS, type Query } from "../../query/query";
import { conditionText, liftText, narrowTo, sidesOf } from "./spec";

const range = { from: 0, to: 3_600_000 };
const resolved = (query: Partial<Query>) => ({
  query: { ...defaultQuery("t"), ...query },
  columns: [],
  range,
});

test("a comparison has the sides now and before", () => {
  const sides = sidesOf(resolved({ compare: PREVIOUS, bucket: "1m" }));
  expect(sides?.names).toEqual(["now", "before"]);
  expect(sides?.sides).toEqual({ shift: "1h" });
});

test("filters are compared with the rest of the same time", () => {
  const filters = [{ column: "status", operator: "=", values: ["x"] }] as const;
  const sides = sidesOf(resolved({ filters, where: "ms > 3" }));
  expect(sides?.sides).toEqual({ where: "(status = 'x'\n) AND (ms > 3\n)" });
  expect(sides?.rows.filter).toBeUndefined();
  expect(sidesOf(resolved({}))).toBeNull();
});

test("a selection is compared with the rest of what is filtered to", () => {
  const filters = [{ column: "status", operator: "=", values: ["x"] }] as const;
  const view = { kind: "why", options: { select: "a > 5" } };
  const sides = sidesOf(resolved({ filters, view }));
  expect(sides?.sides).toEqual({ where: "a > 5" });
  expect(sides?.rows.filter).toEqual(["status = 'x'"]);
});

test("conditions are read as sentences", () => {
  const text = (condition: Partial<Condition>) =>
    conditionText({ column: "c", test: "is", sql: "", ...condition });
  expect(text({ value: "a" })).toBe("c is a");
  expect(text({ test: "has", value: "x" })).toBe("c has x");
  expect(text({ test: "within", from: 1, to: 9 })).toBe("c from 1 to 9");
  expect(text({ test: "within", from: null, to: 9 })).toBe("c < 9");
  expect(text({ test: "within", from: 1, to: null })).toBe("c ≥ 1");
  expect(text({ test: "missing" })).toBe("c is null");
  expect(liftText(null)).toBe("only here");
  expect(liftText(8.24)).toBe("8.2 ×");
});

test("a query is narrowed once", () => {
  const conditions: Condition[] = [{ column: "c", test: "is", value: 1, sql: '"c" = 1' }];
  const once = narrowTo(resolved({ where: "a" }).query, conditions);
  expect(once.where).toBe('(a) AND ("c" = 1)');
  expect(narrowTo(once, conditions)).toBe(once);
});
