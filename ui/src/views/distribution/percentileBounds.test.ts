import { expect, it } from "vitest";
import { percentileBound } from "./percentileBounds";

it("cuts off values a percentile's error further out, and never beyond the extremes", () => {
  expect([percentileBound(0, 0, "low"), percentileBound(8.923, 9, "high")]).toEqual(["0", "9"]);
  expect(Number(percentileBound(8.923, 500, "high"))).toBeGreaterThanOrEqual(9);
  expect([percentileBound(-108.23, -109, "low"), percentileBound(-100, -100, "high")]).toEqual([
    "-109",
    "-100",
  ]);
  expect([percentileBound(7.0395, 7, "low"), percentileBound(7.0395, 900, "high")]).toEqual([
    "7",
    "7.118",
  ]);
  expect(percentileBound("1e20", "123456789012345678901", "high")).toBe("101100000000000000000");
  expect(percentileBound("9007199254740993", "9007199254740993", "high")).toBe("9007199254740993");
  expect(percentileBound(null, null, "low")).toBe("null");
  for (const value of [1, 1.0005, 37, 9999, 123456, -1, -1.0005, -9999]) {
    for (const estimate of [value * 0.99, value * 1.01]) {
      expect(Number(percentileBound(estimate, null, "low"))).toBeLessThanOrEqual(value);
      expect(Number(percentileBound(estimate, null, "high"))).toBeGreaterThanOrEqual(value);
    }
  }
});
