import { expect, test } from "vitest";
import { type Flow, sankeyOf } from "./layout";

const flow = (texts: string[], value: number, before: number | null = null): Flow => ({
  texts,
  value,
  before,
  samples: 1,
});

test("values are nodes of their stage, and flows between neighbours add up", () => {
  const flows = [
    flow(["a", "x", "1"], 6, 3),
    flow(["a", "y", "1"], 2, 1),
    flow(["b", "x", "2"], 4),
  ];
  const { nodes, links } = sankeyOf(flows, 3, 600, 300);
  expect(nodes.map(({ stage, label, value }) => `${stage} ${label} ${value}`)).toEqual([
    "0 a 8",
    "1 x 10",
    "2 1 8",
    "1 y 2",
    "0 b 4",
    "2 2 4",
  ]);
  expect(links).toHaveLength(6);
  expect(nodes.find(({ key }) => key === "0 a")?.before).toBe(4);
  const lefts = nodes.map(({ stage, left }) => [stage, left]);
  expect(new Set(lefts.map(String)).size).toBe(3);
});

test("smaller values of a stage are one node, also where a value is called Other", () => {
  const flows = Array.from({ length: 30 }, (_, at) => flow([`v${at}`, "Other"], 100 - at));
  const { nodes } = sankeyOf(flows, 2, 600, 300);
  expect(nodes.filter(({ stage }) => stage === 0)).toHaveLength(12);
  expect(nodes.filter(({ isOther }) => isOther).map(({ stage }) => stage)).toEqual([0]);
});

test("nothing flows is nothing drawn", () => {
  expect(sankeyOf([flow(["a", "b"], 0)], 2, 600, 300)).toEqual({ nodes: [], links: [] });
});
