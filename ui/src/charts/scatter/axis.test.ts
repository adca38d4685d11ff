import { expect, test } from "vitest";
import { axisOf, partOf, valueAt } from "./axis";

test("values that reach far are drawn by their logarithms", () => {
  const axis = axisOf([10, 100, 100_000], 5);
  expect(axis).toEqual({ log: true, scale: { min: 1, max: 5, step: 1 } });
  expect(partOf(axis, 1000)).toBeCloseTo(0.5);
  expect(valueAt(axis, 0.5)).toBe(1000);
});

test("others are not, nor are those that are not positive", () => {
  expect(axisOf([0, 100_000], 5).log).toBe(false);
  const axis = axisOf([20, 95], 5);
  expect(axis.log).toBe(false);
  expect(valueAt(axis, partOf(axis, 42))).toBe(42);
  expect(Number.isFinite(partOf(axisOf([7], 5), 7))).toBe(true);
});
