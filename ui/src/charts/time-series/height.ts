// How high values are drawn: as they are, or by their logarithms.

import { inUnit } from "../../base/units";
import { type Scale, unitScale, unitText } from "../echart-axes";
import type { Series, TimeSeries, Values } from "./data";

/** The texts of the ticks, which are logarithms on a logarithmic axis. */
export function axisText(chart: TimeSeries, log: boolean) {
  return log ? (at: number) => inUnit(10 ** at, chart.unit) : unitText(chart.unit);
}

/** The scale that all values and bands of some series are on, in a chart of a height in pixels. */
export function heightScale(
  chart: TimeSeries,
  series: readonly Series[],
  height: number,
  log: boolean,
): Scale {
  const lines = series.flatMap(({ values, before }) => [values, before ?? []]);
  const bands = series.flatMap(({ low, high }) => [low, high]);
  const [low, high] = withBands(extentOf(lines, log), extentOf(bands, log), chart.additive);
  if (log) return logScale(low, high);
  return unitScale(chart.unit, low, high, height < 200 ? 3 : 4, chart.additive);
}

type Extent = readonly [low: number, high: number];

/** The least and the greatest of values on the axis; of none, the least is above the greatest. */
function extentOf(all: readonly Values[], log: boolean): Extent {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const values of all) {
    for (const value of values) {
      const at = onAxis(value, log);
      if (at === null) continue;
      if (at < low) low = at;
      if (at > high) high = at;
    }
  }
  return [low, high];
}

/**
 * The extent of lines with their bands. One point of few rows may have a band far wider than all
 * lines: bands take as much room above and below as the lines themselves at most.
 */
function withBands([low, high]: Extent, bands: Extent, zero: boolean): Extent {
  const room = high - (zero ? Math.min(0, low) : low) || Number.POSITIVE_INFINITY;
  return [
    Math.min(low, Math.max(bands[0], low - room)),
    Math.max(high, Math.min(bands[1], high + room)),
  ];
}

/** A scale of whole powers of ten around two logarithms. */
function logScale(low: number, high: number): Scale {
  if (!(low <= high)) return { min: 0, max: 1, step: 1 };
  const [min, top] = [Math.floor(low + 1e-9), Math.ceil(high - 1e-9)];
  const max = Math.max(top, min + 1);
  return { min, max, step: Math.ceil((max - min) / 8) };
}

/** How high a value is on the axis; null where it has no place there. */
export function onAxis(value: number | null, log: boolean): number | null {
  if (value === null || !log) return value;
  return value > 0 ? Math.log10(value) : null;
}

/** The values as they are on the axis. */
export const allOnAxis = (values: Values, log: boolean): Values =>
  log ? values.map((value) => onAxis(value, true)) : values;
