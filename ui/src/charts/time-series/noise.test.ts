import { expect, it } from "vitest";
import type { TimeSeries } from "./data";
import { noiseOf } from "./noise";

const MINUTE = 60_000;
/** An hour of minutes, each of so many rows that stand for `rate` events each. */
const chart = (rows: number, rate: number, over: Partial<TimeSeries> = {}) => {
  const each = <T>(value: T) => Array.from({ length: 60 }, () => value);
  return {
    additive: true,
    step: MINUTE,
    starts: Array.from({ length: 60 }, (_, at) => at * MINUTE),
    series: [{ values: each(rows * rate), samples: each(rows) }],
    ...over,
  } as unknown as TimeSeries;
};

it("offers longer buckets where few sampled rows are behind each point", () => {
  expect(noiseOf(chart(10, 20))).toEqual({ rows: 10, bucket: "5m" });
  // A line has at least a dozen points.
  expect(noiseOf(chart(1, 20))).toEqual({ rows: 1, bucket: "5m" });
  expect(noiseOf(chart(25, 20))).toEqual({ rows: 25, bucket: "2m" });
});

it("is silent about exact counts, and where there are enough rows", () => {
  expect(noiseOf(chart(10, 1))).toBeNull();
  expect(noiseOf(chart(30, 20))).toBeNull();
  expect(noiseOf(chart(0, 20))).toBeNull();
  // Means and percentiles are no counts, sampled or not.
  expect(noiseOf(chart(10, 1, { additive: false }))).not.toBeNull();
});
