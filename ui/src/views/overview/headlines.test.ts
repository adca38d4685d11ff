import { expect, it } from "vitest";
import type { Column, Type } from "../../api/types";
import { headlines } from "./headlines";

const column = (name: string, type: Type, over: Partial<Column> = {}) =>
  ({ name, type, min: null, max: null, ...over }) as Column;

it("begins with events, the error rate and the latency, as far as there are columns for them", () => {
  const columns = [column("latency_us", "number"), column("status", "number"), column("a", "set")];
  const error = 'avg(status >= 500) AS "error rate"';
  expect(headlines(columns, "count(*)")).toEqual(["count(*)", error, "p95(latency_us)"]);
  expect(headlines([], "count(*)")).toEqual(["count(*)"]);
  // What is shown is among them, and only once.
  expect(headlines(columns, error)).toEqual(["count(*)", error, "p95(latency_us)"]);
  expect(headlines(columns, "avg(status >= 500)")[1]).toBe("avg(status >= 500)");
  expect(headlines([], "sum(bytes)")).toEqual(["count(*)", "sum(bytes)"]);
});

it("takes levels of logs and flags for errors, and no status that is no code", () => {
  const ofLevel = headlines([column("level", "string")], "count(*)")[1];
  expect(ofLevel).toMatch(/^avg\(lower\(level\) IN \('error', .*\)\) AS "error rate"$/);
  expect(headlines([column("failed", "bool")], "count(*)")[1]).toContain("failed = true");
  expect(headlines([column("status", "string")], "count(*)")).toEqual(["count(*)"]);
  const large = column("status", "number", { min: 1, max: 90_000 });
  expect(headlines([large], "count(*)")).toEqual(["count(*)"]);
  const names = ["wait_ms", "duration"].map((name) => column(name, "number"));
  expect(headlines(names, "count(*)")).toEqual(["count(*)", "p95(wait_ms)"]);
});
