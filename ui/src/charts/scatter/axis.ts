// The scales of a scatter plot, and where its points are.

import { type Scale, scaleOf } from "../echart-axes";

export interface Axis {
  readonly log: boolean;
  /** Of the values, or of their decimal logarithms. */
  readonly scale: Scale;
}

/** Values that reach over more than this factor are drawn by their logarithms. */
const LOG_FACTOR = 300;

/** The axis that holds all values. */
export function axisOf(values: readonly number[], ticks: number): Axis {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > 0 && high / low > LOG_FACTOR) {
    const [from, to] = [Math.floor(Math.log10(low) * 4) / 4, Math.ceil(Math.log10(high) * 4) / 4];
    return { log: true, scale: { min: from, max: to, step: 1 } };
  }
  return { log: false, scale: scaleOf(low, high, ticks, false) };
}

/** Where a value is, from 0 to 1. */
export function partOf(axis: Axis, value: number): number {
  const { min, max } = axis.scale;
  return ((axis.log ? Math.log10(value) : value) - min) / (max - min);
}

/** The value at a part of the axis. */
export function valueAt(axis: Axis, part: number): number {
  const { min, max } = axis.scale;
  const at = min + part * (max - min);
  return Number((axis.log ? 10 ** at : at).toPrecision(5));
}
