import { expect, test } from "vitest";
import { type Leaf, tilesOf } from "./layout";

const leaf = (texts: string[], value: number | null, isOther = false): Leaf => ({
  texts,
  mark: {
    key: texts.join("/"),
    label: texts.join(" · "),
    value,
    before: null,
    colour: "#000",
    samples: 1,
    isOther,
  },
});

test("tiles are as large as their values and nested by their keys", () => {
  const leaves = [
    leaf(["a", "x"], 30),
    leaf(["a", "y"], 30),
    leaf(["b", "x"], 40),
    leaf([], 20, true),
  ];
  const tiles = tilesOf(leaves, 600, 400);
  const words = tiles.map(({ label, level, isLeaf }) => `${level} ${label}${isLeaf ? "" : " +"}`);
  expect(words.toSorted()).toEqual(["1 ", "1 a +", "1 b +", "2 x", "2 x", "2 y"].toSorted());
  const outer = tiles.find(({ label }) => label === "a");
  expect(outer?.leaves).toHaveLength(2);
  const area = (outer?.width ?? 0) * (outer?.height ?? 0);
  expect(area / (600 * 400)).toBeCloseTo(0.5, 1);
});

test("nothing and less than nothing have no tile", () => {
  expect(tilesOf([leaf(["a"], 0), leaf(["b"], null), leaf(["c"], -3)], 600, 400)).toEqual([]);
});
