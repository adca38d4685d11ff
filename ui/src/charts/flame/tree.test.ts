import { expect, test } from "vitest";
import type { Answer } from "../../api/types";
import { framesOf, growth, neighbour } from "./tree";

const answer = (rows: Answer["rows"], other: boolean[], compared = false) =>
  ({
    columns: [...(compared ? ["side"] : []), "path", "n"].map((name) => ({ name, type: "number" })),
    rows,
    other,
    samples: rows.map(() => 1),
  }) as unknown as Answer;

const PLAIN = answer(
  [
    [[], 10],
    [["a"], 3],
    [["b"], 6],
    [["b", "c"], 4],
    [["b"], 1],
    [[], 1],
  ],
  [false, false, false, false, true, true],
);

test("frames lie below the frame that they begin with, the widest at the left, the rest last", () => {
  const frames = framesOf(PLAIN);
  const listed = frames.map(({ key, depth, left, width }) => [key, depth, left, width]);
  expect(
    listed.map((it) => it.map((at) => (typeof at === "number" ? Number(at.toFixed(9)) : at))),
  ).toEqual([
    ["[]", 0, 0, 1],
    ['["b"]', 1, 0, 0.6],
    ['["a"]', 1, 0.6, 0.3],
    ["[] rest", 1, 0.9, 0.1],
    ['["b","c"]', 2, 0, 0.4],
    ['["b"] rest', 2, 0.4, 0.1],
  ]);
});

test("keys lead from frame to frame", () => {
  const frames = framesOf(PLAIN);
  const [root, b] = frames;
  if (!root || !b) throw new Error("there are frames");
  expect(neighbour(frames, root, "ArrowDown")).toBe(b);
  expect(neighbour(frames, b, "ArrowRight")?.key).toBe('["a"]');
  expect(neighbour(frames, b, "ArrowUp")).toBe(root);
  expect(neighbour(frames, root, "ArrowLeft")).toBeNull();
});

test("a comparison keeps frames that are no more, and tells how shares grew", () => {
  const rows = [
    ["now", [], 10],
    ["now", ["a"], 10],
    ["before", [], 20],
    ["before", ["a"], 10],
    ["before", ["gone"], 10],
  ];
  const frames = framesOf(
    answer(
      rows as Answer["rows"],
      rows.map(() => false),
      true,
    ),
  );
  const [root, a, gone] = frames;
  if (!root || !a || !gone) throw new Error("there are frames");
  expect([a.value, a.before, growth(a, root)]).toEqual([10, 10, 0.5]);
  expect([gone.path, gone.value, growth(gone, root)]).toEqual([["gone"], 0, -1]);
  expect(gone.width).toBeCloseTo(1 / 3);
  expect(framesOf(answer([], []))).toEqual([]);
});
