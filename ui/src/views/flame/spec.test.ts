import { expect, test } from "vitest";
import { defaultQuery } from "../../query/query";
import { flameSpec, withoutPath } from "./spec";

test("frames are ranked by the first measure, and rows are counted", () => {
  const query = { ...defaultQuery("t"), measures: ["sum(bytes)"], compare: "7d" };
  const resolved = { query, columns: [], range: { from: 0, to: 1000 } };
  expect(flameSpec(resolved, "Stack")).toMatchObject({
    group_by: ['prefixes("Stack")'],
    aggregates: ["sum(bytes)", "count(*)"],
    series: 500,
    compare: { shift: "7d" },
  });
});

test("a path is excluded once, and its texts stay texts", () => {
  const once = withoutPath(defaultQuery("t"), "s", ["a'b"]);
  expect(once.where).toBe("(s IS NULL OR NOT includes_start(s, 'a''b'))");
  expect(withoutPath(once, "s", ["a'b"])).toEqual(once);
  expect(withoutPath(once, "s", ["c"]).where).toBe(
    "((s IS NULL OR NOT includes_start(s, 'a''b'))) AND (s IS NULL OR NOT includes_start(s, 'c'))",
  );
});
