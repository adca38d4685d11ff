import { expect, test } from "vitest";
import { sparkPath } from "./sparkline";

test("a line goes through known values and is broken where none is known", () => {
  const values = [0, 10, null, 5, 10];
  expect(sparkPath(values, [values], 400, 24)).toBe("M0.0 22.0L100.0 2.0M300.0 12.0L400.0 2.0");
  expect(sparkPath([], [[]], 400, 24)).toBe("");
  expect(sparkPath([3], [[3]], 400, 24)).toBe("M0.0 2.0");
});
