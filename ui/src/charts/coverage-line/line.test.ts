import { expect, it } from "vitest";
import { downOf, floorOf, gridOf, gridWords, type LinePoint, pathOf, piecesOf } from "./line";

const points = (...coverages: number[]): LinePoint[] =>
  coverages.map((coverage, index) => ({ x: index * 10, coverage }));

it("begins its scale a little beneath the lowest value", () => {
  expect(floorOf([])).toBe(0.99);
  expect(floorOf(points(1, 0.995))).toBe(0.99);
  expect(floorOf(points(1, 0.99))).toBe(0.95);
  expect(floorOf(points(0.833))).toBe(0.8);
  expect(floorOf(points(0.8))).toBe(0.5);
  expect(floorOf(points(0, 1))).toBe(0);
});

it("writes the values of its grid shortly", () => {
  expect(gridOf(0.99).map(gridWords)).toEqual(["100 %", "99.5 %", "99 %"]);
});

it("stays inside of the chart", () => {
  expect([downOf(1, 0.5), downOf(0.75, 0.5), downOf(0, 0.5)]).toEqual([0, 0.5, 1]);
});

it("does not connect what is far apart", () => {
  const line = [...points(1, 1), { x: 50, coverage: 1 }];
  expect(piecesOf(line, 10).map((piece) => piece.length)).toEqual([2, 1]);
  expect(piecesOf([], 10)).toEqual([]);
});

it("steps from value to value", () => {
  expect(pathOf(points(1, 0.5), 0, 200, 100)).toBe("M0.0,0.0H20.0V50.0");
});
