import { expect, it } from "vitest";
import type { Answer } from "../../api/types";
import { defaultQuery, type Query } from "../../query/query";
import { wholeRange, wholeSpec } from "./wholeRange";

const resolved = (over: Partial<Query>) => ({
  query: { ...defaultQuery("t"), ...over },
  columns: [],
  range: { from: 0, to: 3_600_000 },
});

it("asks for the whole range where buckets do not sum up to it", () => {
  expect(wholeSpec(resolved({}))).toBeNull();
  const query = { group: ["service"], measures: ["p95(a)", "count(*)"], compare: "1d" };
  expect(wholeSpec(resolved(query))).toMatchObject({
    group_by: ["service"],
    aggregates: ["p95(a)", "count(*)"],
    compare: { shift: "1d" },
  });
  expect(wholeSpec(resolved({ measures: ["avg(a)"] }))?.group_by).toBeUndefined();
});

it("reads it by the keys of the series, on both sides", () => {
  const columns = ["side", "service", "p95(a)", "count(*)"].map((name) => ({ name }));
  const rows = [
    ["now", "web", 12, 5],
    ["before", "web", 10, 5],
    ["before", "api", 3, 5],
  ];
  const answer = { columns, rows } as unknown as Answer;
  const query = resolved({ group: ["service"], measures: ["p95(a)", "count(*)"], compare: "1d" });
  const wholes = wholeRange(answer, query, 0);
  expect(wholes.get('["web"]')).toEqual({ now: 12, before: 10 });
  expect(wholes.get('["api"]')).toEqual({ now: null, before: 3 });
  const plain = { columns: [{ name: "avg(a)" }], rows: [[7]] } as unknown as Answer;
  const single = wholeRange(plain, resolved({ measures: ["avg(a)"] }), 0);
  expect(single.get("avg(a)")).toEqual({ now: 7, before: null });
});
