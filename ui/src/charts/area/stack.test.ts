import { expect, test } from "vitest";
import type { Series, TimeSeries } from "../time-series/data";
import { layerAt, layersOf } from "./stack";

const series = (key: string, values: (number | null)[], before: (number | null)[] | null = null) =>
  ({ key, values, before }) as Series;
const a = series("a", [6, 2, 0], [1, 1, 1]);
const b = series("b", [2, null, 0], [3, 0, 1]);
const chart = { starts: [0, 1, 2] } as TimeSeries;

test("layers lie on each other", () => {
  const layers = layersOf(chart, [a, b], false);
  expect(layers.map(({ low, high }) => [low, high])).toEqual([
    [
      [0, 0, 0],
      [6, 2, 0],
    ],
    [
      [6, 2, 0],
      [8, 2, 0],
    ],
  ]);
  expect(layers[1]?.before).toEqual([4, 1, 2]);
});

test("shares reach to the whole, also of the time before, and nothing has no share", () => {
  const layers = layersOf(chart, [a, b], true);
  expect(layers[0]?.high).toEqual([0.75, 1, 0]);
  expect(layers[1]?.high).toEqual([1, 1, 0]);
  expect(layers[0]?.before).toEqual([0.25, 1, 0.5]);
});

test("a height has the layer that is drawn there", () => {
  const layers = layersOf(chart, [a, b], false);
  expect(layerAt(layers, 0, 5)?.series.key).toBe("a");
  expect(layerAt(layers, 0, 7)?.series.key).toBe("b");
  expect(layerAt(layers, 0, 9)).toBeNull();
  expect(layerAt(layers, 0, -1)).toBeNull();
});
