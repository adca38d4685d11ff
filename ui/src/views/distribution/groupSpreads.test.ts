import { expect, it } from "vitest";
import type { Answer } from "../../api/types";
import { groupSpreads } from "./groupSpreads";

it("has a distribution for each group, with both of its sides", () => {
  const columns = ["side", "service", "spread", "count(*)"].map((name) => ({ name }));
  const rows = [
    ["now", "web", [[0, 1, 4]], 4],
    ["before", "api", [[0, 1, 2]], 2],
    ["before", "web", [[0, 1, 3]], 3],
  ];
  const answer = { columns, rows } as unknown as Answer;
  const spreads = groupSpreads(answer, 1, { log: false });
  expect(spreads.map(({ keys }) => keys)).toEqual([["web"], ["api"]]);
  expect(spreads[0]?.spread).toMatchObject({ total: 4, totalBefore: 3, compared: true });
  expect(spreads[1]?.spread).toMatchObject({ total: 0, totalBefore: 2 });
});

it("is one of all rows without groups", () => {
  const answer = {
    columns: [{ name: "spread" }],
    rows: [[[[0, 1, 4]]]],
  } as unknown as Answer;
  expect(groupSpreads(answer, 0, null)).toMatchObject([{ keys: [], spread: { total: 4 } }]);
});
