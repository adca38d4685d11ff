// Scales and ticks. Charts compute where each value is drawn, so that they can find the value under
// a pointer. Times are moments; only their labels are in the reader's zone.

import { exact, short } from "../base/format";
import { roundStep } from "../base/roundStep";
import { inUnit, shownAs, type Unit } from "../base/units";
import { unzoned, type Zone, zoned } from "../base/zone";
import type { ChartTheme } from "./echart";

/** Where a chart draws within its canvas, in pixels. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** A scale with round ends around two values. From zero where asked, or where zero is near. */
export function scaleOf(low: number, high: number, most: number, zero: boolean): Scale {
  let [from, to] = low <= high ? [low, high] : [0, 1];
  if (zero || (from > 0 && from < to * 0.4)) from = Math.min(0, from);
  if (zero) to = Math.max(0, to);
  if (from === to) {
    if (zero) to = from + 1;
    else {
      const air = Math.abs(from) * 0.05 || 1e-9;
      [from, to] = [from - air, to + air];
    }
  }
  const step = roundStep(to - from, most);
  return { min: Math.floor(from / step) * step, max: Math.ceil(to / step - 1e-9) * step, step };
}

/** A scale whose steps are round in the unit that people read: 50 ms of a scale of microseconds. */
export function unitScale(
  unit: Unit | null,
  low: number,
  high: number,
  most: number,
  zero: boolean,
): Scale {
  if (!(low <= high)) return scaleOf(low, high, most, zero);
  const { factor } = shownAs(unit, Math.max(Math.abs(low), Math.abs(high)));
  const { min, max, step } = scaleOf(low / factor, high / factor, most, zero);
  return { min: min * factor, max: max * factor, step: step * factor };
}

/** The texts of ticks in a unit; undefined where there is none. */
export const unitText = (unit: Unit | null) =>
  unit === null ? undefined : (value: number) => inUnit(value, unit);

/** The round values of a range, its ends included. */
export function ticksOf(min: number, max: number, step: number): number[] {
  const ticks: number[] = [];
  const first = Math.ceil(min / step - 1e-9);
  // As many decimals as a round step has, without the noise of binary fractions.
  const decimals = Math.min(100, Math.max(0, Math.ceil(-Math.log10(step))));
  for (let at = first; at * step <= max + step * 1e-9 && ticks.length < 200; at++) {
    ticks.push(Number((at * step).toFixed(decimals)));
  }
  return ticks;
}

/** The texts of ticks: short, or in full where short ones would be the same. */
export function tickText(ticks: readonly number[]): (value: number) => string {
  return new Set(ticks.map(short)).size === ticks.length ? short : exact;
}

const DAY = 86_400_000;
const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600,
].concat([43_200, 86_400, 172_800, 604_800, 1_209_600]);
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export interface TimeTick {
  /** The moment, in milliseconds. */
  readonly at: number;
  readonly text: string;
  /** Where a larger unit begins: a day among hours, a year among months. */
  readonly bold: boolean;
}

/** At most about `most` round times of the zone's wall clock in a range. */
export function timeTicks(from: number, to: number, zone: Zone, most: number): TimeTick[] {
  const rough = (to - from) / Math.max(1, most);
  const seconds = STEPS.find((step) => step * 1000 >= rough);
  const [start, end] = [zoned(from, zone), zoned(to, zone)];
  const walls = seconds ? wallSteps(start, end, seconds * 1000) : wallMonths(start, end, rough);
  const daily = !seconds || seconds * 1000 >= DAY;
  const ticks: TimeTick[] = [];
  for (const wall of walls) {
    const at = unzoned(wall, zone);
    const last = ticks.at(-1);
    // When the clocks go back, two readings of the wall clock are one after the other.
    if (at < from || at > to || (last && at <= last.at)) continue;
    ticks.push({ at, ...(daily ? dayText(wall, !seconds) : clockText(wall, seconds % 60 !== 0)) });
  }
  const [first, ...rest] = ticks;
  // Clock times alone would leave the day open.
  if (!first || daily || ticks.some(({ bold }) => bold)) return ticks;
  const dated = `${dayText(zoned(first.at, zone), false).text} ${first.text}`;
  return [{ ...first, text: dated }, ...rest];
}

function wallSteps(start: number, end: number, step: number): number[] {
  // Weeks begin on a Monday; the epoch was a Thursday.
  const origin = step % (7 * DAY) === 0 ? 4 * DAY : 0;
  const walls: number[] = [];
  let wall = Math.ceil((start - origin) / step) * step + origin;
  for (; wall <= end && walls.length < 200; wall += step) walls.push(wall);
  return walls;
}

function wallMonths(start: number, end: number, rough: number): number[] {
  const months = MONTHS.find((it) => it * 30 * DAY >= rough) ?? 1200;
  const date = new Date(start);
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  const walls: number[] = [];
  for (let at = Math.ceil(month / months) * months; walls.length < 200; at += months) {
    const wall = Date.UTC(Math.floor(at / 12), at % 12);
    if (wall > end) break;
    if (wall >= start) walls.push(wall);
  }
  return walls;
}

function dayText(wall: number, monthly: boolean): Omit<TimeTick, "at"> {
  const date = new Date(wall);
  const name = NAMES[date.getUTCMonth()] ?? "";
  if (!monthly) return { text: `${date.getUTCDate()} ${name}`, bold: date.getUTCDate() === 1 };
  const newYear = date.getUTCMonth() === 0;
  return { text: newYear ? String(date.getUTCFullYear()) : name, bold: newYear };
}

function clockText(wall: number, withSeconds: boolean): Omit<TimeTick, "at"> {
  if (wall % DAY === 0) return { text: dayText(wall, false).text, bold: true };
  return { text: new Date(wall).toISOString().slice(11, withSeconds ? 19 : 16), bold: false };
}

let context: CanvasRenderingContext2D | null = null;

/** How wide a text of an axis is, in pixels. */
export function textWidth(text: string, font: string): number {
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return text.length * 6.5;
  context.font = `11px ${font}`;
  return context.measureText(text).width;
}

/** A vertical axis of quiet lines, and the room that its labels need. */
export function valueAxis(scale: Scale, theme: ChartTheme, written?: (value: number) => string) {
  const ticks = ticksOf(scale.min, scale.max, scale.step);
  const text = written ?? tickText(ticks);
  const widest = Math.max(...ticks.map((tick) => textWidth(text(tick), theme.font)));
  const option = {
    type: "value",
    min: scale.min,
    max: scale.max,
    interval: scale.step,
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: theme.grid, width: 1 } },
    axisLabel: {
      color: theme.dimmed,
      fontSize: 11,
      fontFamily: theme.font,
      margin: 8,
      formatter: text,
      customValues: ticks,
    },
  };
  return { option, room: Math.ceil(widest) + 12 };
}

/** The ticks of a horizontal axis whose labels fit on the canvas. */
export function fittingTicks<T extends { at: number; text: string }>(
  ticks: readonly T[],
  [from, to]: readonly [number, number],
  plot: Pick<Plot, "left" | "width">,
  right: number,
  font: string,
): T[] {
  return ticks.filter(({ at, text }) => {
    const x = ((at - from) / (to - from)) * plot.width;
    // Bold ones are a little wider.
    const half = (textWidth(text, font) * 1.08) / 2;
    return x - half >= -plot.left && x + half <= plot.width + right;
  });
}

/** A horizontal axis with labels at given values. */
export function labelledAxis(
  min: number,
  max: number,
  ticks: readonly { at: number; text: string; bold: boolean }[],
  theme: ChartTheme,
) {
  const texts = new Map(ticks.map((tick) => [tick.at, tick]));
  const places = ticks.map((tick) => tick.at);
  return {
    type: "value",
    min,
    max,
    axisLine: { show: true, onZero: false, lineStyle: { color: theme.grid } },
    axisTick: { show: true, length: 4, customValues: places, lineStyle: { color: theme.grid } },
    splitLine: { show: false },
    axisLabel: {
      color: theme.dimmed,
      fontSize: 11,
      fontFamily: theme.font,
      margin: 8,
      customValues: places,
      hideOverlap: true,
      formatter: (value: number) => {
        const tick = texts.get(value);
        return tick?.bold ? `{bold|${tick.text}}` : (tick?.text ?? "");
      },
      rich: { bold: { fontWeight: 600, fontSize: 11, color: theme.text, fontFamily: theme.font } },
    },
  };
}
