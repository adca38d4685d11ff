import { expect, test } from "vitest";
import { expanded, withoutDefinitions } from "./definitions";

const ms = { name: "ms", sql: "latency_us / 1000" };
const slow = { name: "Is slow", sql: "ms > 500" };

test("defined names are replaced, but not in texts, after dots and casts, and as functions", () => {
  const text = (sql: string) => expanded(sql, [ms, slow]);
  expect(text("avg(ms) > 5")).toBe("avg((latency_us / 1000)) > 5");
  expect(text('"Is slow" OR ms = 1')).toBe(
    "((latency_us / 1000) > 500) OR (latency_us / 1000) = 1",
  );
  for (const same of ["'ms'", '"MS"', "a.ms", "x::ms", "ms(1)", "-- ms", "/* ms */", "1 AS ms"]) {
    expect(text(same)).toBe(same);
  }
});

test("a definition sees those before it, and the table's column of its own name", () => {
  expect(expanded("a", [{ name: "a", sql: "a + 1" }])).toBe("(a + 1)");
  expect(
    expanded("b", [
      { name: "b", sql: "c" },
      { name: "c", sql: "d" },
    ]),
  ).toBe("(c)");
  expect(expanded("b", [{ name: "b", sql: "c -- text" }])).toBe("(c -- text\n)");
  expect(expanded("constructor", [ms])).toBe("constructor");
});

test("the answer's columns are called as without definitions", () => {
  const sent = withoutDefinitions({
    table: "t",
    define: [ms, slow],
    filter: ["ms > 5"],
    group_by: ["ms", '"Is slow"', "service", "floor(ms) AS f"],
    aggregates: ["avg(ms)", "count(*)"],
    order_by: ["avg(ms) DESC"],
  });
  expect(sent).toEqual({
    table: "t",
    filter: ["(latency_us / 1000) > 5"],
    group_by: [
      '(latency_us / 1000) AS "ms"',
      '((latency_us / 1000) > 500) AS "Is slow"',
      "service",
      "floor((latency_us / 1000)) AS f",
    ],
    aggregates: ['avg((latency_us / 1000)) AS "avg(ms)"', "count(*)"],
    order_by: ["avg((latency_us / 1000)) DESC"],
  });
});

test("raw rows have the derived columns after all others", () => {
  expect(withoutDefinitions({ table: "t", define: [ms], limit: 1 }).columns).toEqual([
    "*",
    '(latency_us / 1000) AS "ms"',
  ]);
  expect(withoutDefinitions({ table: "t", define: [], limit: 1 })).toEqual({
    table: "t",
    limit: 1,
  });
});
