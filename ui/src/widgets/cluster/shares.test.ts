import { expect, it } from "vitest";
import { clusterOf, leafOf } from "./cluster.fixture";
import { shareRows } from "./shares";

it("compares the leaves of a table", () => {
  const without = { ...leafOf("m-1/a", "alive"), tables: [] };
  const leaves = [leafOf("m-0/a", "alive", 30, 30), leafOf("m-0/b", "silent", 0, 10), without];
  const cluster = clusterOf(leaves);
  const [row] = shareRows({
    ...cluster,
    tables: cluster.tables.map((table) => ({ ...table, rows_expected: 40 })),
  });
  expect(row?.shares.map((share) => share && [share.leaf, share.fraction, share.strength])).toEqual(
    [["m-0/a", 0.75, 1], ["m-0/b", 0.25, 1 / 3], null],
  );
});

it("has no rows without tables", () => {
  const cluster = clusterOf([leafOf("a", "alive")]);
  expect(shareRows({ ...cluster, tables: [] })).toEqual([]);
});
