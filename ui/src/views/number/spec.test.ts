import { expect, test } from "vitest";
import { defaultQuery } from "../../query/query";
import { numberQuery, wholeSpec } from "./spec";

test("big numbers are of all rows, whatever the query is grouped by", () => {
  const query = { ...defaultQuery("t"), group: ["a"], measures: ["p95(b)"], compare: "7d" };
  const resolved = { query, columns: [], range: { from: 0, to: 1000 } };
  expect(numberQuery(resolved).query.group).toEqual([]);
  expect(wholeSpec(resolved)).toMatchObject({
    aggregates: ["p95(b)", "count(*)"],
    compare: { shift: "7d" },
  });
  expect(wholeSpec(resolved)).not.toHaveProperty("group_by");
});
