import { expect, test } from "vitest";
import { defaultQuery } from "../../query/query";
import { rateSpec, tailSpec } from "./spec";

test("the tail is of the newest rows that match, whenever the range ends", () => {
  const query = { ...defaultQuery("t"), where: "a > 1", search: "x" };
  const resolved = { query, columns: [], range: { from: 0, to: 1000 } };
  expect(tailSpec(resolved)).toEqual({
    table: "t",
    from: "1970-01-01T00:00:00.000Z",
    filter: ["a > 1"],
    search: "x",
    limit: 100,
  });
  expect(rateSpec(resolved)).toMatchObject({ from: "-10s", aggregates: ["count(*)"] });
});
