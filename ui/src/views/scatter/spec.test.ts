import { expect, test } from "vitest";
import type { Column } from "../../api/types";
import { defaultQuery } from "../../query/query";
import { withOption } from "../../query/viewManifest";
import { axesOf, X, Y } from "./options";
import { beforeSpec, scatterSpec } from "./spec";

const columns = [
  { name: "a", type: "number", distinct: 50 },
  { name: "Big", type: "number", distinct: 5000 },
  { name: "host", type: "string", distinct: 9 },
] as unknown as Column[];
const range = { from: 0, to: 1000 };
const query = { ...defaultQuery("t"), group: ["host", "a"] };

test("rows are chosen at random, and coloured by the first group", () => {
  const spec = scatterSpec({ query, columns, range }, { x: "a", y: "Big" });
  expect(spec).toMatchObject({
    filter: ["a IS NOT NULL", '"Big" IS NOT NULL'],
    columns: ["a AS x", '"Big" AS y', "host"],
    order_by: ["random(1)"],
  });
});

test("the compared time is asked for by itself", () => {
  const axes = { x: "a", y: "Big" };
  expect(beforeSpec({ query, columns, range }, axes)).toBeNull();
  const compared = { query: { ...query, compare: "7d" }, columns, range };
  expect(beforeSpec(compared, axes)?.to).toBe("1969-12-25T00:00:01.000Z");
});

test("the axes are the columns with most values, unless the address names some", () => {
  const of = (asked: typeof query) => axesOf({ query: asked, columns, range });
  expect(of(query)).toEqual({ x: "Big", y: "a" });
  expect(of(withOption(query, X, "a") as typeof query)).toEqual({ x: "a", y: "Big" });
  expect(of(withOption(query, Y, "Big") as typeof query)).toEqual({ x: "a", y: "Big" });
  expect(axesOf({ query, columns: columns.slice(1), range })).toBeNull();
});
