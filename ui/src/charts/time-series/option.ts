// From series to the picture that ECharts draws.

import { inUnit } from "../../base/units";
import type { Zone } from "../../base/zone";
import type { ChartOption, ChartTheme } from "../echart";
import {
  fittingTicks,
  labelledAxis,
  type Plot,
  type Scale,
  timeTicks,
  valueAxis,
} from "../echart-axes";
import { verticalLines } from "../echart-lines";
import { chartStrokes, type Series, type TimeSeries, type Values } from "./data";
import { allOnAxis, axisText, heightScale, onAxis } from "./height";
import { markLines, type TimeMark } from "./markLines";

export interface Look {
  readonly theme: ChartTheme;
  readonly zone: Zone;
  readonly width: number;
  readonly height: number;
  readonly hidden: ReadonlySet<string>;
  readonly highlighted: string | null;
  /** Whether heights are logarithms. */
  readonly log?: boolean;
  /** The series that the scale reaches over; left out, those that are drawn. */
  readonly scaleBy?: readonly Series[];
  readonly marks?: readonly TimeMark[];
}

/** A series with how its line is drawn. */
export interface Drawn {
  readonly series: Series;
  readonly colour: string;
  readonly dashes: readonly number[] | null;
}

/** The picture, and the data for finding the series under a pointer. */
export interface Picture {
  readonly option: ChartOption;
  readonly plot: Plot;
  readonly scale: Scale;
  readonly drawn: Drawn[];
  readonly log: boolean;
}

/** Room around the plot: half a line of text above, the labels of the time below. */
const TOP = 10;
const BOTTOM = 26;
const RIGHT = 14;

/** The whole picture of a time series chart. */
export function pictureOf(chart: TimeSeries, look: Look): Picture {
  const drawn = drawnOf(chart, look);
  const scale = heightScale(
    chart,
    look.scaleBy ?? drawn.map(({ series }) => series),
    look.height,
    look.log === true,
  );
  const { option: yAxis, room } = valueAxis(scale, look.theme, axisText(chart, look.log === true));
  const plot = {
    left: room,
    top: TOP,
    width: Math.max(1, look.width - room - RIGHT),
    height: look.height - TOP - BOTTOM,
  };
  const from = chart.starts[0] ?? chart.range.from;
  const to = from + chart.starts.length * chart.step;
  const ticks = timeTicks(from, to, look.zone, plot.width / 84);
  const fitting = fittingTicks(ticks, [from, to], plot, RIGHT, look.theme.font);
  const midnights = ticks.filter((tick) => tick.bold).map(({ at }) => at);
  const lines = drawn.flatMap((it, place) => linesOf(chart, it, place, drawn.length, look));
  const grid = { color: look.theme.grid };
  const days = verticalLines(
    "days",
    midnights.map((at) => ({ at, stroke: grid })),
    0,
  );
  const option = {
    grid: { ...plot, outerBoundsMode: "none" },
    xAxis: labelledAxis(from, to, fitting, look.theme),
    yAxis,
    series: [days, markLines(look.marks ?? [], look.theme), ...lines],
  };
  return { option, plot, scale, drawn, log: look.log === true };
}

function drawnOf(chart: TimeSeries, look: Look): Drawn[] {
  const strokes = chartStrokes(chart);
  const shown = chart.series.filter(({ key }) => !look.hidden.has(key));
  const plain = { colour: look.theme.dimmed, dashes: null };
  return shown.map((series) => ({ series, ...(strokes.get(series.key) ?? plain) }));
}

/** A point in the middle of each bucket. */
function points(chart: TimeSeries, values: Values, from: number, to: number, cut = false) {
  return values.slice(from, to).map((value, at) => {
    const time = (chart.starts[from + at] ?? 0) + chart.step / 2;
    if (!isLonely(values, from + at)) return { value: [time, value] };
    // No line would show a value that has none on either side.
    return {
      value: [time, value],
      symbol: cut ? "emptyCircle" : "circle",
      symbolSize: cut ? 7 : 4,
    };
  });
}

const isLonely = (values: Values, at: number) =>
  values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;

interface Style {
  id: string;
  colour: string;
  width: number;
  opacity: number;
  type: "solid" | number[];
  area: number;
  z: number;
}

function lineOf(style: Style, data: ReturnType<typeof points>) {
  const { id, colour, width, opacity, type, area, z } = style;
  return {
    id,
    type: "line",
    data,
    z,
    silent: true,
    symbol: "none",
    showSymbol: true,
    showAllSymbol: true,
    itemStyle: { color: colour, opacity },
    lineStyle: { color: colour, width, opacity, type, join: "round", cap: "round" },
    ...(area > 0 ? { areaStyle: { color: colour, opacity: area * opacity } } : {}),
  };
}

/** The lines of a series: what it was before, its style, and its ends where buckets are cut. */
function linesOf(
  chart: TimeSeries,
  { series, colour, dashes }: Drawn,
  place: number,
  of: number,
  look: Look,
) {
  const { highlighted } = look;
  const faded = highlighted !== null && highlighted !== series.key && !look.hidden.has(highlighted);
  const strong = highlighted === series.key;
  const opacity = faded ? 0.25 : 1;
  const style: Style = {
    id: series.key,
    colour,
    width: strong ? 2.5 : 1.5,
    opacity,
    type: dashes ? [...dashes] : "solid",
    area: of === 1 && chart.additive && !look.log ? 0.1 : 0,
    // The largest series are drawn on top, the highlighted one above all.
    z: strong ? 1000 : 100 - place,
  };
  const filling = { ...style, opacity: opacity * 0.55, type: [4, 4] };
  const lines = [
    ...bandOf(chart, series, style, look.log === true),
    ...withEnds(chart, allOnAxis(series.values, look.log === true), style, filling),
  ];
  if (!series.before) return lines;
  const earlier: Style = {
    ...style,
    id: `${series.key} before`,
    width: strong ? 2 : 1.25,
    opacity: opacity * 0.8,
    type: [1, 3],
    area: 0,
    z: style.z - 50,
  };
  const end = { ...earlier, opacity: opacity * 0.45 };
  return [...withEnds(chart, allOnAxis(series.before, look.log === true), earlier, end), ...lines];
}

/** The band in which the values are with 95 % confidence, where it is wider than the line. */
function bandOf(
  chart: TimeSeries,
  series: Series,
  { id, colour, opacity, z }: Style,
  log: boolean,
) {
  const [low, high] = [allOnAxis(series.low, log), allOnAxis(series.high, log)];
  const isWide = low.some((it, at) => it !== null && it < (high[at] ?? it));
  if (!isWide) return [];
  const from = chart.starts[0] ?? 0;
  const at = (place: number) => from + (place + 0.5) * chart.step;
  const data = low.map((value, place) => [at(place), value, high[place] ?? null]);
  return [
    {
      id: `${id} band`,
      type: "custom",
      silent: true,
      clip: true,
      z: z - 60,
      data: data.slice(1).map((end, place) => [...(data[place] ?? []), ...end]),
      encode: { x: [0, 3], y: [1, 2, 4, 5] },
      renderItem: (_: unknown, api: BandApi) => {
        const ends = [0, 1, 2, 3, 4, 5].map((it) => api.value(it));
        if (ends.some((it) => !Number.isFinite(it))) return null;
        const [x0 = 0, low0 = 0, high0 = 0, x1 = 0, low1 = 0, high1 = 0] = ends;
        const points = [
          api.coord([x0, low0]),
          api.coord([x1, low1]),
          api.coord([x1, high1]),
          api.coord([x0, high0]),
        ];
        return {
          type: "polygon",
          shape: { points },
          style: { fill: colour, opacity: 0.18 * opacity },
        };
      },
    },
  ];
}

interface BandApi {
  value: (at: number) => number;
  coord: (point: [number, number]) => [number, number];
}

/** A line whose ends look otherwise where the first or the last bucket is cut. */
function withEnds(chart: TimeSeries, values: Values, whole: Style, cut: Style) {
  const count = values.length;
  const first = chart.cutFirst ? 1 : 0;
  const last = chart.cutLast ? count - 1 : count;
  const part = (style: Style, name: string, from: number, to: number) =>
    lineOf(
      { ...style, id: whole.id + name },
      points(chart, values, Math.max(0, from), Math.min(count, to), style === cut),
    );
  const begin = chart.cutFirst ? [part(cut, " begin", 0, 2)] : [];
  // If both buckets are cut, one line is enough.
  const end = chart.cutLast && last >= first ? [part(cut, " filling", count - 2, count)] : [];
  const both = begin.length + end.length === 2 && count <= 2 ? begin : [...begin, ...end];
  return first < last ? [part(whole, "", first, last), ...both] : both;
}

/** The series whose line passes a place of the plot; null if none is within `reach` pixels. */
export function nearestTo(
  chart: TimeSeries,
  picture: Picture,
  place: { bin: number; x: number; y: number },
  reach: number,
): Drawn | null {
  const { plot, drawn } = picture;
  const each = plot.width / chart.starts.length;
  const centre = (place.bin + 0.5) * each;
  // Towards the neighbour on the pointer's side.
  const side = place.x < centre ? -1 : 1;
  const along = Math.min(1, Math.abs(place.x - centre) / each);
  let best: Drawn | null = null;
  let distance = reach;
  for (const one of drawn) {
    const value = one.series.values[place.bin] ?? null;
    if (value === null) continue;
    const next = one.series.values[place.bin + side] ?? value;
    const onLine = Math.abs(heightOf(value + (next - value) * along, picture) - place.y);
    const atPoint = Math.hypot(heightOf(value, picture) - place.y, centre - place.x);
    const away = Math.min(onLine, atPoint);
    if (away < distance) [best, distance] = [one, away];
  }
  return best;
}

/** How far below the plot's top a value is drawn, in pixels. */
export function heightOf(value: number, { plot, scale, log }: Picture): number {
  const height = onAxis(value, log) ?? scale.min;
  return plot.height * (1 - (height - scale.min) / (scale.max - scale.min));
}

/** The largest value of the chart in words. */
export function largest(chart: TimeSeries): string {
  const [first] = chart.series;
  return first?.max == null ? "" : `; at most ${inUnit(first.max, chart.unit)} for ${first.label}`;
}
