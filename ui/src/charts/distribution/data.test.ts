import { expect, it } from "vitest";
import type { Answer, Cell } from "../../api/types";
import { type Bar, spreadBetween, spreadOf } from "./data";
import { drawnEnds, placeOf } from "./option";

const one = (cell: Cell) =>
  ({ columns: [{ name: "spread", type: "histogram" }], rows: [[cell]] }) as unknown as Answer;
const two = (now: Cell, before: Cell) =>
  ({
    columns: [
      { name: "side", type: "string" },
      { name: "spread", type: "histogram" },
    ],
    rows: [
      ["before", before],
      ["now", now],
    ],
  }) as unknown as Answer;

it("reads buckets, digits in texts too", () => {
  const spread = spreadOf(
    one([
      [0, 10, 3],
      [10, 20, "9007199254740993"],
    ]),
  );
  expect(spread).toMatchObject({ compared: false });
  expect(spread.bars[0]).toEqual({ from: 0, to: 10, now: 3, before: 0 });
  expect(spread.total).toBeGreaterThan(9e15);
});

it("has no bars where there are no values", () => {
  expect(spreadOf(one(null))).toMatchObject({ bars: [], total: 0 });
  expect(spreadOf(two(null, null))).toMatchObject({ bars: [], compared: true });
});

it("puts both sides on one grid, however far each reaches", () => {
  const spread = spreadOf(
    two(
      [
        [10, 20, 4],
        [20, 30, 1],
      ],
      [
        [0, 10, 7],
        [10, 20, 2],
      ],
    ),
  );
  expect(spread.bars).toEqual([
    { from: 0, to: 10, now: 0, before: 7 },
    { from: 10, to: 20, now: 4, before: 2 },
    { from: 20, to: 30, now: 1, before: 0 },
  ]);
  expect(spread).toMatchObject({ total: 5, totalBefore: 9 });
});

it("has bars in which the buckets of both sides lie whole, whatever their widths", () => {
  const buckets = (from: number, to: number, width: number) =>
    Array.from({ length: Math.round((to - from) / width) }, (_, at) => [
      from + at * width,
      from + (at + 1) * width,
      1,
    ]) as unknown as Cell;
  const now = buckets(0, 110, 0.5);
  const before = buckets(0, 60, 0.2);
  const { bars } = spreadOf(two(now, before));
  expect(bars).toHaveLength(55);
  expect(bars[3]).toEqual({ from: 6, to: 8, now: 4, before: 10 });
  expect(bars.at(-1)).toEqual({ from: 108, to: 110, now: 4, before: 0 });
  // What is narrow enough for one is not for both.
  const apart = spreadOf(two(buckets(0, 1, 0.005), buckets(10_000, 10_001, 0.005)));
  expect(apart.bars).toHaveLength(51);
  expect(apart.bars[0]).toEqual({ from: 0, to: 200, now: 200, before: 0 });
  expect(apart.bars.at(-1)).toEqual({ from: 10_000, to: 10_200, now: 0, before: 200 });
  const negative = spreadOf(two(buckets(-0.3, 0.3, 0.002), null)).bars;
  expect(negative[0]).toEqual({ from: -0.3, to: -0.29, now: 5, before: 0 });
  expect(negative.at(-1)).toEqual({ from: 0.29, to: 0.3, now: 5, before: 0 });
});

it("draws a single value", () => {
  expect(spreadOf(one([[5, 5, 8]])).bars).toEqual([{ from: 5, to: 5, now: 8, before: 0 }]);
});

it("survives fractions that binary numbers cannot hold", () => {
  const grid = Array.from({ length: 30 }, (_, at) => [at * 0.1, (at + 1) * 0.1, 1] as never);
  const spread = spreadOf(two(grid.slice(5), grid));
  expect(spread.bars).toHaveLength(30);
  expect(spread.bars.every(({ before }) => Math.abs(before - 1) < 1e-6)).toBe(true);
});

it("has a bar for the one value that all have, and for each side its own", () => {
  expect(spreadOf(one([[7, 7, 12]])).bars).toEqual([{ from: 7, to: 7, now: 12, before: 0 }]);
  const spread = spreadOf(two([[7, 7, 12]], [[8, 8, 5]]));
  expect(spread.bars).toEqual([
    { from: 7, to: 7, now: 12, before: 0 },
    { from: 8, to: 8, now: 0, before: 5 },
  ]);
  expect(drawnEnds(spread.bars[0] as Bar, spread.bars)).toEqual([6.97, 7.03]);
  expect(spreadOf(two([[7, 7, 12]], [[0, 10, 5]])).bars[0]).toMatchObject({ now: 12, before: 5 });
});

it("joins sides whose edges were asked for, and puts values at their logarithms", () => {
  const now: Cell = [
    [1, 10, 3],
    [10, 100, 0],
  ];
  const spread = spreadBetween(two(now, [[10, 100, 5]]), true);
  expect(spread).toMatchObject({ log: true, halfOpen: true, total: 3, totalBefore: 5 });
  expect(spread.bars).toEqual([
    { from: 1, to: 10, now: 3, before: 0 },
    { from: 10, to: 100, now: 0, before: 5 },
  ]);
  expect(placeOf(spread)(100)).toBe(2);
  expect(placeOf({ ...spread, log: false })(100)).toBe(100);
});
