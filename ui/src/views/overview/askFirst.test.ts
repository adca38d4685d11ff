import { expect, test } from "vitest";
import type { Answer, Column, QuerySpec } from "../../api/types";
import { defaultQuery } from "../../query/query";
import type { ResolvedQuery } from "../../query/spec";
import { askFirst } from "./askFirst";

const column = (name: string, type: string, distinct: number | null) =>
  ({ name, type, distinct, rows: 1000, null_fraction: 0 }) as Column;

const asking = (columns: Column[]): ResolvedQuery => ({
  query: defaultQuery("requests"),
  columns,
  range: { from: 0, to: 3_600_000 },
});

async function asked(columns: Column[], percentiles: (number | null)[]): Promise<QuerySpec[]> {
  const specs: QuerySpec[] = [];
  await askFirst(asking(columns), async (spec) => {
    specs.push(spec);
    return { rows: [percentiles] } as Answer;
  });
  return specs;
}

test("asks for the head, the facets, and the bars between percentiles, each once", async () => {
  const columns = [column("service", "string", 9), column("latency", "number", 900)];
  const specs = await asked(columns, [1, 2, 3, 4]);
  expect(specs.filter(({ group_by }) => group_by).map(({ group_by }) => group_by)).toEqual([
    ["service"],
  ]);
  expect(specs.at(-1)?.aggregates).toEqual(["histogram(latency, 24) AS spread"]);
  expect(specs).toHaveLength(4);
});

test("asks for no bars of no values, and for no facets before statistics are known", async () => {
  const latency = column("latency", "number", 900);
  expect(await asked([latency], [null, null, null, null])).toHaveLength(2);
  expect(await asked([{ ...latency, distinct: null }], [1, 2, 3, 4])).toHaveLength(1);
});
