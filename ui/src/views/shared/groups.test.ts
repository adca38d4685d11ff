import { expect, test } from "vitest";
import type { Answer } from "../../api/types";
import { defaultQuery } from "../../query/query";
import { groupsOf, groupsSpec, restOf, rowCountsOf } from "./groups";

const range = { from: 0, to: 3_600_000 };
const query = { ...defaultQuery("t"), group: ["a"], measures: ["p95(b)"] };
const resolved = { query, columns: [], range };

test("groups are asked for with their total, and both times as columns", () => {
  expect(groupsSpec(resolved, query.group, 3)).toMatchObject({
    group_by: ["a"],
    aggregates: ["p95(b)", "count(*)"],
    order_by: ["p95(b) DESC NULLS LAST"],
    limit: 3,
    totals: true,
  });
  const compared = { ...resolved, query: { ...query, compare: "7d" } };
  expect(groupsSpec(compared, query.group, 3).compare).toEqual({ shift: "7d", columns: true });
  expect(groupsSpec(resolved, ["unnest(tags)"], 3)).not.toHaveProperty("totals");
});

const answer = (columns: string[], rows: Answer["rows"], kinds: Answer["row_kinds"]) =>
  ({
    columns: columns.map((name) => ({ name, type: name === "a" ? "string" : "number" })),
    rows,
    row_kinds: kinds,
    samples: rows.map(() => 7),
  }) as unknown as Answer;

test("an answer is read with its total and the rest", () => {
  const counts = { ...query, measures: ["count(*)"] };
  const rows = [
    ["x", 5],
    ["y", 3],
    [null, 10],
  ];
  const groups = groupsOf(answer(["a", "n"], rows, ["group", "group", "total"]), counts, 1, 2);
  expect(groups.rows.map(({ keys }) => keys)).toEqual([["x"], ["y"]]);
  expect(restOf(groups, 0)).toEqual({ now: 2, before: null });
  expect(rowCountsOf(groups)).toEqual({ samples: 7, events: 10 });
  // With fewer groups than were asked for there is no rest.
  const all = groupsOf(answer(["a", "n"], rows, ["group", "group", "total"]), counts, 1, 3);
  expect(restOf(all, 0)).toBeNull();
});

test("compared groups are sorted by what they are now", () => {
  const counts = { ...query, measures: ["count(*)"], compare: "7d" };
  const rows = [
    ["x", 1, 90, -89, -98],
    ["y", 30, 3, 27, 900],
  ];
  const names = ["a", "n", "n_baseline", "n_difference", "n_percent"];
  const groups = groupsOf(answer(names, rows, ["group", "group"]), counts, 1, 9);
  expect(groups.compared).toBe(true);
  expect(groups.rows.map(({ keys, values }) => [keys[0], values[0]])).toEqual([
    ["y", { now: 30, before: 3 }],
    ["x", { now: 1, before: 90 }],
  ]);
});
