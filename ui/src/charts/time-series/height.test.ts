import { expect, test } from "vitest";
import type { Series, TimeSeries } from "./data";
import { allOnAxis, heightScale } from "./height";

const chart = { unit: null, additive: true } as unknown as TimeSeries;
const series = (...values: (number | null)[]) =>
  ({ values, before: null, low: [], high: [] }) as unknown as Series;
const banded = (low: number, value: number, high: number) => ({
  ...series(value),
  low: [low],
  high: [high],
});

test("a logarithmic scale has whole powers of ten around all positive values", () => {
  const scale = heightScale(chart, [series(0, 30, -5), series(2000)], 300, true);
  expect(scale).toEqual({ min: 1, max: 4, step: 1 });
  expect(heightScale(chart, [series(100)], 300, true)).toEqual({ min: 2, max: 3, step: 1 });
  expect(heightScale(chart, [series(0)], 300, true)).toEqual({ min: 0, max: 1, step: 1 });
});

test("zero and negative values have no place on it", () => {
  expect(allOnAxis([0, -1, null, 1000], true)).toEqual([null, null, null, 3]);
  expect(allOnAxis([0, -1], false)).toEqual([0, -1]);
});

test("the scale reaches over all series that it is for", () => {
  expect(heightScale(chart, [series(10), series(90)], 300, false).max).toBe(100);
});

test("the scale reaches over bands, up to as far again as the lines reach", () => {
  expect(heightScale(chart, [banded(70, 90, 130)], 300, false)).toMatchObject({ min: 0, max: 150 });
  expect(heightScale(chart, [banded(70, 90, 1e6)], 300, false).max).toBe(200);
  const mean = { ...chart, additive: false };
  const lines = [banded(80, 100, 115), banded(95, 110, 500)];
  expect(heightScale(mean, lines, 300, false)).toEqual({ min: 90, max: 120, step: 10 });
  expect(heightScale(chart, [series(10), banded(100, 1000, 20_000)], 300, true).max).toBe(5);
});
