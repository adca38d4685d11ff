import { expect, it } from "vitest";
import { defaultQuery } from "../query/query";
import { queryWords } from "./QueryLine";

it("says a query in a line, but for what is as usual", () => {
  expect(queryWords(defaultQuery("t"))).toEqual([]);
  const filters = [{ column: "status", operator: ">=", values: ["500"] }] as const;
  const query = {
    ...defaultQuery("t"),
    compare: "previous",
    filters,
    group: ["service", "length(m) AS n"],
    measures: ["p95(latency_us)"],
    search: "timed out",
    where: " a > b ",
  };
  expect(queryWords(query)).toEqual([
    "vs previous period",
    "status >= 500",
    "“timed out”",
    "a > b",
    "by service, n",
    "p95 of latency_us",
  ]);
  expect(queryWords({ ...defaultQuery("t"), compare: "7d" })).toEqual(["vs 7d before"]);
});
