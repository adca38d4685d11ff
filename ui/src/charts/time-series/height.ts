// How high values are drawn: as they are, or by their logarithms.

import { inUnit } from "../../base/units";
import { type Scale, unitScale, unitText } from "../echart-axes";
import type { Series, TimeSeries, Values } from "./data";

/** The texts of the ticks, which are logarithms on a logarithmic axis. */
export function axisText(chart: TimeSeries, log: boolean) {
  return log ? (at: number) => inUnit(10 ** at, chart.unit) : unitText(chart.unit);
}

/** The scale that all values of some series are on, in a chart of a height in pixels. */
export function heightScale(
  chart: TimeSeries,
  series: readonly Series[],
  height: number,
  log: boolean,
): Scale {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const reach = (values: Values | null) => {
    for (const value of values ?? []) {
      if (value === null || (log && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  };
  for (const { values, before } of series) {
    reach(values);
    reach(before);
  }
  if (log) return logScale(low, high);
  return unitScale(chart.unit, low, high, height < 200 ? 3 : 4, chart.additive);
}

/** A scale of whole powers of ten around two values. */
function logScale(low: number, high: number): Scale {
  if (!(low <= high)) return { min: 0, max: 1, step: 1 };
  const [min, top] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
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
