// Series on top of each other: where each layer begins and ends, as amounts or as shares.

import type { Series, TimeSeries } from "../time-series/data";

/** A series between two heights for each bucket. */
export interface Layer {
  readonly series: Series;
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** The upper end of the layer at the compared time; null where nothing is compared. */
  readonly before: readonly number[] | null;
}

/** Layers from the bottom to the top, the largest series first. Values below zero count as zero. */
export function layersOf(chart: TimeSeries, shown: readonly Series[], share: boolean): Layer[] {
  const buckets = chart.starts.length;
  const at = (values: readonly (number | null)[] | null, bucket: number) =>
    Math.max(0, values?.[bucket] ?? 0);
  const wholes = (read: (series: Series) => readonly (number | null)[] | null) =>
    Array.from({ length: buckets }, (_, bucket) =>
      shown.reduce((sum, series) => sum + at(read(series), bucket), 0),
    );
  const [whole, wholeBefore] = [wholes((it) => it.values), wholes((it) => it.before)];
  const factor = (of: number | undefined) => (share ? (of ? 1 / of : 0) : 1);
  let top = new Array<number>(buckets).fill(0);
  let topBefore = new Array<number>(buckets).fill(0);
  return shown.map((series) => {
    const low = top;
    const high = low.map((it, bucket) => it + at(series.values, bucket) * factor(whole[bucket]));
    const before = topBefore.map(
      (it, bucket) => it + at(series.before, bucket) * factor(wholeBefore[bucket]),
    );
    [top, topBefore] = [high, before];
    return { series, low, high, before: series.before ? before : null };
  });
}

/** The layer at a height of a bucket; null above all layers. */
export function layerAt(layers: readonly Layer[], bucket: number, height: number): Layer | null {
  if (height < 0) return null;
  return layers.find(({ high }) => height <= (high[bucket] ?? 0)) ?? null;
}
