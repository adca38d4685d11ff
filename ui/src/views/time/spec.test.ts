import { expect, test } from "vitest";
import { defaultQuery } from "../../query/query";
import { seriesRange } from "../../query/spec";
import { timeSpec } from "./spec";

test("a series asks for the very range, whose ends may cut buckets", () => {
  const [from, to] = [Date.parse("2026-11-19T00:17:00Z"), Date.parse("2026-11-19T03:30:00Z")];
  const query = { ...defaultQuery("t"), bucket: "1h" };
  const resolved = { query, columns: [], range: { from, to } };
  expect(timeSpec(resolved)).toMatchObject({ from: "2026-11-19T00:17:00.000Z", bucket: "1h" });
  expect(timeSpec(resolved).filter).toBeUndefined();
  expect(seriesRange(resolved).start).toBe(Date.parse("2026-11-19T00:00:00Z"));
  // The server compares whole buckets; what the range cuts off is filtered on both sides.
  expect(timeSpec({ ...resolved, query: { ...query, compare: "1d" } }).filter).toEqual([
    `"time" >= '2026-11-18T00:17:00.000Z'`,
    `("time" < '2026-11-19T00:00:00.000Z' OR "time" >= '2026-11-19T00:17:00.000Z')`,
  ]);
});
