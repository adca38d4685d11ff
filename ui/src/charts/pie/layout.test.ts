import { expect, test } from "vitest";
import type { Mark } from "../marks";
import { ringPath, slicesOf } from "./layout";

const mark = (key: string, value: number | null, isOther = false): Mark => ({
  key,
  label: key,
  value,
  before: null,
  colour: "#000",
  samples: 1,
  isOther,
});

test("slices are shares of the whole and go round once", () => {
  const slices = slicesOf([mark("a", 6), mark("b", 3), mark("c", null), mark("d", 1)]);
  expect(slices.map(({ mark: { key }, share }) => [key, share])).toEqual([
    ["a", 0.6],
    ["b", 0.3],
    ["d", 0.1],
  ]);
  expect(slices.at(-1)?.to).toBeCloseTo(1);
});

test("marks beyond the most, and those that are not shown at all, are one slice", () => {
  const marks = [mark("a", 5), mark("b", 3), mark("c", 1), mark("rest", 1, true)];
  const slices = slicesOf(marks, 2);
  expect(slices.map(({ mark: { label }, share }) => [label, share])).toEqual([
    ["a", 0.5],
    ["Other", 0.5],
  ]);
});

test("a full turn is still drawn", () => {
  expect(ringPath(0, 1, 50, 100)).toContain("A100 100 0 1 1");
  expect(slicesOf([])).toEqual([]);
});
