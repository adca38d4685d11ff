import { expect, test } from "vitest";
import { recentOf, withRecent } from "./recentQueries";

test("the newest query is first, and each is there once", () => {
  expect(withRecent(["?table=a", "?table=b"], "?table=b")).toEqual(["?table=b", "?table=a"]);
  const many = Array.from({ length: 60 }, (_, at) => `?table=t${at}`);
  expect(withRecent(many, "?table=a")).toHaveLength(50);
});

test("what another program stored is ignored", () => {
  expect(recentOf({ a: 1 })).toEqual([]);
  expect(recentOf(["?table=a", 5, "javascript:alert(1)"])).toEqual(["?table=a"]);
});
