import { expect, test } from "vitest";
import type { Mark } from "../marks";
import { barHeight, barOf, barScale } from "./layout";

const mark = (value: number | null, before: number | null = null): Mark => ({
  key: "a",
  label: "a",
  value,
  before,
  colour: "#000",
  samples: 100,
  isOther: false,
});

test("bars begin at zero and reach to their value", () => {
  const scale = barScale([mark(50), mark(200, 400), mark(null)]);
  expect(scale).toEqual({ low: 0, high: 400 });
  expect(barOf(mark(200, 400), scale)).toEqual({ left: 0, width: 50, before: 100 });
  expect(barOf(mark(null), scale)).toEqual({ left: 0, width: 0, before: null });
});

test("negative bars lie left of zero", () => {
  const scale = barScale([mark(-100), mark(300)]);
  expect(barOf(mark(-100), scale)).toEqual({ left: 0, width: 25, before: null });
  expect(barOf(mark(300), scale)).toEqual({ left: 25, width: 75, before: null });
});

test("a scale of nothing is still one", () => {
  expect(barScale([])).toEqual({ low: 0, high: 1 });
  expect(barOf(mark(0), barScale([mark(0)])).width).toBe(0);
  expect(barOf(mark(Number.POSITIVE_INFINITY), { low: 0, high: 1 }).width).toBe(0);
});

test("bars share a height as far as their texts can be read", () => {
  expect(barHeight(10, undefined)).toBe(18);
  expect(barHeight(10, 240)).toBe(20);
  expect(barHeight(2, 240)).toBe(30);
  expect(barHeight(100, 240)).toBe(14);
});
