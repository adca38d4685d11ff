// From bars to the picture that ECharts draws.

import { short } from "../../base/format";
import { roundStep } from "../../base/roundStep";
import { inUnit, shownAs, type Unit } from "../../base/units";
import type { Zone } from "../../base/zone";
import type { ChartOption, ChartTheme } from "../echart";
import {
  fittingTicks,
  labelledAxis,
  type Plot,
  scaleOf,
  textWidth,
  ticksOf,
  tickText,
  timeTicks,
  unitText,
  valueAxis,
} from "../echart-axes";
import { type VerticalLine, verticalLines } from "../echart-lines";
import type { Bar, Spread } from "./data";

/** A value that is worth a line: a percentile, the mean. */
export interface ValueMark {
  readonly label: string;
  readonly value: number;
}

export interface Look {
  readonly theme: ChartTheme;
  readonly zone: Zone;
  readonly isTime: boolean;
  /** The unit of the values; null for none. */
  readonly unit: Unit | null;
  readonly width: number;
  readonly height: number;
  readonly marks: readonly ValueMark[];
}

export interface Picture {
  readonly option: ChartOption;
  readonly plot: Plot;
  readonly from: number;
  readonly to: number;
}

export const NOW_COLOUR = "#3b7dd8";
export const BEFORE_COLOUR = "#e08214";

const LABEL_LINE = 15;
const BOTTOM = 26;
const RIGHT = 18;

/** How high a bar is: its count, or of two sides its share of its own side. */
const heightsOf = (data: Spread, bar: Bar) =>
  data.compared
    ? [bar.now / Math.max(1, data.total), -bar.before / Math.max(1, data.totalBefore)]
    : [bar.now, 0];

const shareText = (share: number) => `${short(Math.abs(share) * 100)} %`;

/** The whole picture of a distribution. */
export function pictureOf(data: Spread, look: Look): Picture {
  const { theme, width, height } = look;
  const heights = data.bars.flatMap((bar) => heightsOf(data, bar));
  const tallest = heights.reduce((most, it) => Math.max(most, Math.abs(it)), 0) || 1;
  const lines = height < 200 ? 3 : 4;
  const scale = data.compared
    ? scaleOf(-tallest, tallest, lines + 2, true)
    : scaleOf(0, tallest, lines, true);
  const axis = valueAxis(scale, theme, data.compared ? shareText : undefined);
  const place = placeOf(data);
  const [from, to] = drawnRange(data.bars).map(place) as [number, number];
  const across = Math.max(1, width - axis.room - RIGHT);
  const placed = placeMarks(look, place, [from, to], across);
  const rows = 1 + Math.max(-1, ...placed.map(({ row }) => row));
  const top = 8 + rows * LABEL_LINE;
  const plot = { left: axis.room, top, width: across, height: height - top - BOTTOM };
  const ticks = look.isTime
    ? timeTicks(from, to, look.zone, across / 84)
    : data.log
      ? logTicks(from, to, look.unit)
      : numberTicks(from, to, across / 72, look.unit);
  const fitting = fittingTicks(ticks, [from, to], plot, RIGHT, theme.font);
  const option = {
    grid: { ...plot, outerBoundsMode: "none" },
    xAxis: labelledAxis(from, to, fitting, theme),
    yAxis: axis.option,
    series: [
      bars("now", data, 0, NOW_COLOUR),
      ...(data.compared ? [bars("before", data, 1, BEFORE_COLOUR)] : []),
      verticalLines("marks", markLines(placed, theme), 5),
    ],
  };
  return { option, plot, from, to };
}

/** Where a value is along the axis: at its logarithm, if the axis is logarithmic. */
export const placeOf = ({ log = false }: Spread): ((value: number) => number) =>
  log ? (value) => (value > 0 ? Math.log10(value) : Number.NEGATIVE_INFINITY) : (value) => value;

/** The powers of ten, or 1, 2 and 5 times them where there are few. */
function logTicks(from: number, to: number, unit: Unit | null) {
  const steps = to - from < 2.5 ? [1, 2, 5] : [1];
  const text = unitText(unit) ?? short;
  const ticks: { at: number; text: string; bold: boolean }[] = [];
  for (let power = Math.floor(from); power <= Math.ceil(to); power++) {
    for (const step of steps) {
      const at = power + Math.log10(step);
      if (at < from || at > to) continue;
      ticks.push({ at, text: text(step * 10 ** power), bold: false });
    }
  }
  return ticks;
}

function numberTicks(from: number, to: number, most: number, unit: Unit | null) {
  const { factor } = shownAs(unit, Math.max(Math.abs(from), Math.abs(to)));
  const ticks = ticksOf(from, to, roundStep((to - from) / factor, most) * factor);
  const text = unitText(unit) ?? tickText(ticks);
  return ticks.map((at) => ({ at, text: text(at), bold: false }));
}

/** From where to where is drawn: with air on both sides where all values are the same. */
function drawnRange(bars: readonly Bar[]): [number, number] {
  const [first, last] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1];
  if (bars.some((bar) => bar.to > bar.from)) return [first, last];
  const air = (last - first) / 2 || Math.abs(first) / 2 || 1;
  return [first - air, last + air];
}

/** How much of what is drawn a bar of a single value takes. */
const SLIVER = 0.03;

/** The ends between which a bar is drawn: a single value takes a little on both of its sides. */
export function drawnEnds(bar: Bar, bars: readonly Bar[]): [number, number] {
  if (bar.to > bar.from) return [bar.from, bar.to];
  const [from, to] = drawnRange(bars);
  const half = ((to - from) * SLIVER) / 2;
  return [bar.from - half, bar.to + half];
}

interface Api {
  value: (at: number) => number;
  coord: (point: [number, number]) => [number, number];
}

/** Bars from one number to another, a hair apart where there is room. */
function bars(id: string, data: Spread, side: 0 | 1, colour: string) {
  const place = placeOf(data);
  return {
    id,
    type: "custom",
    silent: true,
    clip: true,
    data: data.bars.map((bar) => [
      ...drawnEnds(bar, data.bars).map(place),
      heightsOf(data, bar)[side] ?? 0,
    ]),
    encode: { x: [0, 1], y: 2 },
    renderItem: (_: unknown, { value, coord }: Api) => {
      const height = value(2);
      if (height === 0) return null;
      const [left, top] = coord([value(0), height]);
      const [right, ground] = coord([value(1), 0]);
      const gap = right - left > 4 ? 1 : 0;
      // What is there is seen, however little it is.
      const tall = Math.max(1, Math.abs(ground - top));
      const width = Math.max(1, right - left - gap);
      const shape = { x: left, y: height > 0 ? ground - tall : ground, width, height: tall };
      return { type: "rect", shape, style: { fill: colour, opacity: 0.85 } };
    },
  };
}

interface PlacedMark {
  readonly at: number;
  readonly text: string;
  readonly row: number;
  readonly align: "left" | "center" | "right";
  /** Whether the value is outside the range drawn: labelled at the edge, without a line. */
  readonly outside: boolean;
}

/** The marks with their labels in rows above the plot, so that none covers another. */
function placeMarks(
  look: Look,
  placeOfValue: (value: number) => number,
  [from, to]: readonly [number, number],
  across: number,
): PlacedMark[] {
  const ends: number[] = [];
  return [...look.marks]
    .sort((a, b) => a.value - b.value)
    .map(({ label, value }) => {
      const place = placeOfValue(value);
      const outside = place < from || place > to;
      const number = look.isTime ? "" : ` ${inUnit(value, look.unit)}`;
      const text = `${place < from ? "← " : ""}${label}${number}${place > to ? " →" : ""}`;
      const at = Math.max(from, Math.min(to, place));
      const x = ((at - from) / (to - from)) * across;
      const wide = textWidth(text, look.theme.font);
      const align = x < wide / 2 ? "left" : x > across - wide / 2 ? "right" : "center";
      const left = align === "left" ? x : align === "right" ? x - wide : x - wide / 2;
      let row = ends.findIndex((end) => end + 8 <= left);
      if (row < 0) row = ends.length;
      ends[row] = left + wide;
      return { at, text, row, align, outside };
    });
}

const markLines = (placed: readonly PlacedMark[], theme: ChartTheme) =>
  placed.map(({ at, text, row, align, outside }): VerticalLine => {
    const color = outside ? theme.dimmed : theme.text;
    const place = { above: 3 + row * LABEL_LINE, align };
    const label = { text, color, font: `11px ${theme.font}`, place };
    return { at, label, ...(outside ? {} : { stroke: { color: theme.dimmed } }) };
  });
