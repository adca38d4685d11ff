import { expect, it } from "vitest";
import { defaultQuery, type Query } from "../../query/query";
import { orderOf, type ResolvedQuery } from "../../query/spec";
import { tableSpec } from "./spec";

function resolved(over: Partial<Query>): ResolvedQuery {
  return {
    query: { ...defaultQuery("t"), ...over },
    columns: [],
    range: { from: 0, to: 3_600_000 },
  };
}

it("sorts a compared table by change, and any other by the measure then", () => {
  const order = { group: ["service"], order: "change count(*) asc" };
  const compared = resolved({ ...order, compare: "7d" });
  expect(orderOf(compared.query)).toEqual({ by: "count(*)", ascending: true, change: true });
  expect(tableSpec(compared).order_by).toEqual(["count(*) DESC NULLS LAST"]);
  expect(orderOf(resolved(order).query)).toMatchObject({ ascending: false, change: false });
});
