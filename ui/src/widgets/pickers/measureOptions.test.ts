import { expect, it } from "vitest";
import { looksLikeSql, typedShare } from "./measureOptions";

it("reads the share that somebody types", () => {
  expect(typedShare("share where status >= 500")).toEqual({ measure: "avg(status >= 500)" });
  expect(typedShare("share of rows where a = 'b' AS x")).toEqual({ measure: "avg(a = 'b') AS x" });
  expect(typedShare('share a > 1 as "y z"')).toEqual({ measure: 'avg(a > 1) as "y z"' });
  expect(typedShare("share where ")).toEqual({ measure: null });
  expect(typedShare("shares")).toBeNull();
  expect(looksLikeSql("sum(bytes) / count(*) AS size")).toBe(true);
});
