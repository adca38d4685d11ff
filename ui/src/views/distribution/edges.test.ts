import { describe, expect, it } from "vitest";
import { edgesOf, isLongTailed } from "./edges";

const values = (low: number, high: number, whole = false) => {
  const middle = (low + high) / 2;
  return { low, high, p50: middle, p99: high, whole };
};
const edges = (low: number, high: number, whole = false, log = false) =>
  edgesOf(values(low, high, whole), log)?.edges ?? [];

describe("the edges of bars", () => {
  it("are round, and beyond both ends, so that no bar is cut", () => {
    expect(edges(1, 99).slice(0, 3)).toEqual([0, 2, 4]);
    expect(edges(1, 99).at(-1)).toBe(100);
    // The largest value is in a bar, though it is an edge itself.
    expect(edges(0, 100).at(-1)).toBe(102);
    expect(edges(-0.3, 0.3)[0]).toBe(-0.3);
    for (const [low, high] of [
      [0.013, 7.7],
      [-1e6, 12],
      [5, 5.001],
    ] as const) {
      const all = edges(low, high);
      expect(all[0]).toBeLessThanOrEqual(low);
      expect(all.at(-1)).toBeGreaterThan(high);
      expect(all.length).toBeLessThanOrEqual(63);
      expect(all.every((it, at) => at === 0 || it > (all[at - 1] ?? it))).toBe(true);
    }
  });

  it("have a whole number in the middle where there are few", () => {
    expect(edges(1, 9, true)).toEqual([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]);
    expect(edges(1, 500, true).slice(0, 2)).toEqual([0, 10]);
  });

  it("are equally far apart on a logarithmic axis", () => {
    expect(edges(90, 1500, false, true)).toEqual([
      80, 100, 125, 160, 200, 250, 315, 400, 500, 630, 800, 1000, 1250, 1600,
    ]);
    expect(edges(1, 1e9, false, true).length).toBeLessThan(32);
    // There is no logarithm of zero.
    expect(edgesOf(values(0, 10), true)?.log).toBe(false);
  });

  it("are left to the server where numbers are too large, or one", () => {
    expect(edgesOf(values(7, 7), false)).toBeNull();
    expect(edgesOf(values(0, 1e19), false)).toBeNull();
  });
});

it("finds a long tail by its percentiles", () => {
  const tail = { low: 10, high: 9000, p50: 100, p99: 4000, whole: true };
  expect(isLongTailed(tail)).toBe(true);
  expect(isLongTailed({ ...tail, p99: 2900 })).toBe(false);
  expect(isLongTailed({ ...tail, low: 0 })).toBe(false);
});
