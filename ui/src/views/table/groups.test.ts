import { expect, it } from "vitest";
import type { Answer, Cell } from "../../api/types";
import { defaultQuery, type Query } from "../../query/query";
import { groupTable } from "./groups";

const query: Query = {
  ...defaultQuery("t"),
  group: ["build"],
  measures: ["p95(x)"],
  compare: "7d",
};

/** Rows of a side, a name, a p95, and how many stored rows it rests on. */
function compared(rows: [string, string, number, number][]): Answer {
  const columns = ["side", "build", "p95(x)", "count(*)"].map((name) => ({ name, type: "number" }));
  return {
    columns,
    rows: rows.map(([side, build, p95, samples]): Cell[] => [side, build, p95, samples]),
    samples: rows.map(([, , , samples]) => samples),
  } as unknown as Answer;
}

const answer = compared([
  ["now", "slow", 300, 500],
  ["now", "same", 900, 500],
  ["now", "fresh", 100, 500],
  ["now", "rare", 900, 3],
  ["before", "slow", 100, 500],
  ["before", "same", 900, 500],
  ["before", "gone", 100, 500],
  ["before", "rare", 1, 3],
]);
const names = (order: string, limit = 100) =>
  groupTable(answer, { ...query, order, limit }).rows.map(({ keys }) => keys[0]);

it("sorts by change over all groups; what rests on few rows is last", () => {
  expect(names("change p95(x)")).toEqual(["fresh", "slow", "same", "gone", "rare"]);
  expect(names("change p95(x) asc")).toEqual(["gone", "same", "slow", "fresh", "rare"]);
  expect(names("change p95(x)", 2)).toEqual(["fresh", "slow"]);
});

it("sorts by the measure where no change is asked for", () => {
  expect(names("").slice(0, 2).toSorted()).toEqual(["rare", "same"]);
  expect(names("build asc")[0]).toBe("fresh");
  expect(groupTable(answer, query)).toMatchObject({ compared: true, found: 5, partly: false });
});
