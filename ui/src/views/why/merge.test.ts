import { expect, test } from "vitest";
import type { Difference } from "../../api/explain";
import { merged } from "./merge";

const difference = (names: string[], selection: number, baseline: number): Difference => ({
  conditions: names.map((sql) => ({ column: sql, test: "is", value: 1, sql })),
  events: { selection, baseline },
  shares: { selection: 0, baseline: 0 },
  lift: 2,
  score: 1,
  chance: 0,
});
const texts = (differences: Difference[]) =>
  merged(differences).map(({ conditions, also }) =>
    [conditions, also].map((it) => it.map(({ sql }) => sql)),
  );

test("pairs that are about the same rows are one line", () => {
  expect(
    texts([
      difference(["endpoint", "app"], 1000, 0),
      difference(["endpoint", "fps"], 1000, 0),
      difference(["endpoint"], 1000, 80),
      difference(["endpoint", "kind"], 995, 0),
      difference(["other", "app"], 1000, 0),
    ]),
  ).toEqual([
    [
      ["endpoint", "app"],
      ["fps", "kind", "other"],
    ],
    [["endpoint"], []],
  ]);
});

test("the fewest conditions stand first, whichever came first", () => {
  expect(texts([difference(["a", "b"], 10, 5), difference(["a"], 10, 5)])).toEqual([
    [["a"], ["b"]],
  ]);
  expect(texts([difference(["a"], 10, 5), difference(["b"], 10, 5)])).toHaveLength(2);
});
