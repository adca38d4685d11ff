import { expect, test } from "vitest";
import type { Column } from "../../api/types";
import { resultText, resultUnit } from "./resultNumbers";

const columns = ["latency_us", "user_id", "price"].map((name) => ({ name }) as unknown as Column);

test("a measure has the unit of its column, whatever is computed of it", () => {
  const units = ["p95(latency_us)", "avg(latency_us)", "latency_us", "took_ms", "count(*)"];
  expect(units.map((name) => resultUnit(name, columns))).toEqual(["us", "us", "us", "ms", null]);
  expect(resultUnit("approx_count_distinct(latency_us)", columns)).toBeNull();
  expect(resultUnit("avg(status >= 500)", columns)).toBe("share");
});

test("computed numbers are short, whole ones are not cut", () => {
  expect(resultText(0.0030775416217401633, null)).toBe("0.00308");
  expect(resultText(10_204.5, "us")).toBe("10.2 ms");
  expect(resultText(12_431_221, null)).toBe("12,431,221");
  expect(resultText("12345678901234567890", null)).toBe("12,345,678,901,234,567,890");
  expect(resultText(157_498.31, null)).toBe("157,498");
  expect([resultText(null, null), resultText("n/a", null), resultText(["1"], null)]).toEqual([
    null,
    null,
    null,
  ]);
});
