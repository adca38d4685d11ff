// How much of a chart is chance: how many rows are behind each of its points.

import { bucketFor } from "../../base/duration";
import type { TimeSeries } from "./data";

/** A point of fewer rows is more chance than news. */
const ENOUGH = 30;
/** Fewer points than that are no line. */
const POINTS_LEAST = 12;

export interface Noise {
  /** Rows behind a point, on average. */
  readonly rows: number;
  /** The bucket that has enough rows, or the longest that still draws a line. */
  readonly bucket: string;
}

/**
 * How few rows are behind the points, and the longer bucket that has more; null where there are
 * enough, where numbers are exact counts, or where no longer bucket draws a line.
 */
export function noiseOf(chart: TimeSeries): Noise | null {
  const sampled = chart.series.some(({ values, samples }) =>
    values.some((value, at) => value !== null && samples[at] !== 0 && value !== samples[at]),
  );
  if (chart.additive && !sampled) return null;
  const points = chart.starts.length * chart.series.length;
  const all = chart.series.flatMap(({ samples }) => samples).reduce((sum, it) => sum + it, 0);
  const rows = all / Math.max(1, points);
  if (all === 0 || rows >= ENOUGH) return null;
  const length = chart.step * chart.starts.length;
  const buckets = Math.floor((chart.starts.length * rows) / ENOUGH);
  const bucket = bucketFor(length, Math.max(POINTS_LEAST, buckets));
  return bucket === bucketFor(length, length / chart.step) ? null : { rows, bucket };
}
