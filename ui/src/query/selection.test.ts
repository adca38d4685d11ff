import { expect, test } from "vitest";
import { only } from "./edit";
import { defaultQuery } from "./query";
import { selectionSql } from "./selection";

const columns = [{ name: "at", type: "time", is_time: true }] as never;
const query = {
  ...defaultQuery("t"),
  filters: [{ column: "kind", operator: "=" as const, values: ["x"] }],
};

test("a selection is what a mark narrows to, without what the query is filtered to", () => {
  const pick = { column: "service", value: "a'b", type: "string" as const };
  const made = { column: "n", value: 3, type: "number" as const, expression: "length(m)" };
  const sql = selectionSql(query, columns, (it) => only(it, [pick, made]));
  expect(sql).toBe("service = 'a''b' AND ((length(m)) = 3)");
});

test("a time is a selection, and nothing is none", () => {
  const all = (same: typeof query) => same;
  expect(selectionSql(query, columns, all as never, { from: 0, to: 1000 })).toBe(
    "at >= '1970-01-01T00:00:00.000Z' AND at < '1970-01-01T00:00:01.000Z'",
  );
  expect(selectionSql(query, columns, all as never)).toBe("");
});
