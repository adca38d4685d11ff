// From layers to the picture that ECharts draws.

import { OTHER_COLOUR } from "../../base/colours";
import { percent } from "../../base/format";
import type { Zone } from "../../base/zone";
import type { ChartOption, ChartTheme } from "../echart";
import {
  fittingTicks,
  labelledAxis,
  type Plot,
  type Scale,
  scaleOf,
  timeTicks,
  valueAxis,
} from "../echart-axes";
import { chartStrokes, type TimeSeries } from "../time-series/data";
import { type Layer, layersOf } from "./stack";

/** The picture, and the data for finding the layer under a pointer. */
export interface AreaPicture {
  readonly option: ChartOption;
  readonly plot: Plot;
  readonly scale: Scale;
  readonly layers: readonly Layer[];
  readonly colours: ReadonlyMap<string, string>;
}

export interface AreaLook {
  readonly theme: ChartTheme;
  readonly zone: Zone;
  readonly width: number;
  readonly height: number;
  readonly hidden: ReadonlySet<string>;
  readonly highlighted: string | null;
  readonly share: boolean;
}

const [TOP, RIGHT, BOTTOM] = [10, 14, 26];

/** The whole picture of a stacked area chart. */
export function areaPicture(chart: TimeSeries, look: AreaLook): AreaPicture {
  const { theme, share } = look;
  const shown = chart.series.filter(({ key }) => !look.hidden.has(key));
  const layers = layersOf(chart, shown, share);
  const strokes = chartStrokes(chart);
  const colours = new Map(shown.map(({ key }) => [key, strokes.get(key)?.colour ?? OTHER_COLOUR]));
  const last = layers.at(-1);
  const highest = [...(last?.high ?? []), ...(last?.before ?? [])].reduce(
    (a, b) => Math.max(a, b),
    0,
  );
  const scale = share ? { min: 0, max: 1, step: 0.2 } : scaleOf(0, highest, 4, true);
  const { option: yAxis, room } = valueAxis(
    scale,
    theme,
    share ? (value) => percent(value).replace(".0", "") : undefined,
  );
  const plot = {
    left: room,
    top: TOP,
    width: Math.max(1, look.width - room - RIGHT),
    height: look.height - TOP - BOTTOM,
  };
  const from = chart.starts[0] ?? chart.range.from;
  const to = from + chart.starts.length * chart.step;
  const ticks = timeTicks(from, to, look.zone, plot.width / 84);
  const option = {
    grid: { ...plot, outerBoundsMode: "none" },
    xAxis: labelledAxis(from, to, fittingTicks(ticks, [from, to], plot, RIGHT, theme.font), theme),
    yAxis,
    series: layers.flatMap((layer, place) => linesOf(chart, layer, place, colours, look)),
  };
  return { option, plot, scale, layers, colours };
}

/** A layer is the area below its upper end; lower layers are painted over it. */
function linesOf(
  chart: TimeSeries,
  layer: Layer,
  place: number,
  colours: AreaPicture["colours"],
  look: AreaLook,
) {
  const { key } = layer.series;
  const points = (heights: readonly number[]) =>
    heights.map((height, at) => [(chart.starts[at] ?? 0) + chart.step / 2, height]);
  const faded = look.highlighted !== null && look.highlighted !== key;
  const line = { type: "line", silent: true, symbol: "none" };
  const area = {
    ...line,
    id: key,
    data: points(layer.high),
    z: 500 - place,
    lineStyle: { color: look.theme.surface, width: 1 },
    areaStyle: { color: mixed(colours.get(key) ?? OTHER_COLOUR, look.theme, faded), opacity: 1 },
  };
  const isTop = layer.series === chart.series.filter((it) => !look.hidden.has(it.key)).at(-1);
  if (!layer.before || !(look.share || isTop)) return [area];
  const earlier = {
    ...line,
    id: `${key} before`,
    data: points(layer.before),
    z: 900,
    lineStyle: { color: look.theme.text, width: 1.25, type: [1, 3] },
  };
  return [area, earlier];
}

/** A layer that steps back is mixed with the ground, as it must cover the layers above it. */
function mixed(colour: string, { dark }: ChartTheme, faded: boolean): string {
  if (!faded) return colour;
  const ground = dark ? 36 : 255;
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return `rgb(${parts.map((it) => Math.round(ground + (it - ground) * 0.35)).join(", ")})`;
}
