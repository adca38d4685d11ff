import { expect, it } from "vitest";
import { areaOf, mostOf, type StackPoint } from "./stack";

const points: StackPoint[] = [
  { x: 0, counts: [4, 0, 0] },
  { x: 50, counts: [2, 1, 1] },
];

it("has room for all leaves", () => {
  expect(mostOf([])).toBe(1);
  expect(mostOf(points)).toBe(4);
});

it("stacks the stages as steps", () => {
  // Old: from all leaves down to those that are restarting or new.
  expect(areaOf(points, 0, 100, 40)).toBe("M0.0,0.0H0.0V0.0H50.0V0.0H100.0V20.0H50.0V40.0H0.0Z");
  expect(areaOf(points, 1, 100, 40)).toBe("M0.0,40.0H0.0V40.0H50.0V20.0H100.0V30.0H50.0V40.0H0.0Z");
  expect(areaOf(points, 2, 100, 40)).toBe("M0.0,40.0H0.0V40.0H50.0V30.0H100.0V40.0H50.0V40.0H0.0Z");
  expect(areaOf([], 0, 100, 40)).toBe("");
});
