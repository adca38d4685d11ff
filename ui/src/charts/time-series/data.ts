// From the answer of a time series to what is drawn: the full grid of buckets for every series.

import { numberOf } from "../../api/client";
import { intervalOf } from "../../api/intervals";
import type { Answer, Cell } from "../../api/types";
import { OTHER_COLOUR, type Stroke, strokesOf } from "../../base/colours";
import { durationMs } from "../../base/duration";
import { listText, visible } from "../../base/format";
import type { Unit } from "../../base/units";
import { type Buckets, bucketAt, bucketsOf, earlier } from "../../query/buckets";
import { type PickedValue, picksOf } from "../../query/edit";
import {
  isAdditive,
  isEstimated,
  isRate,
  isSum,
  measureLabel,
  measureUnit,
} from "../../query/measure";
import { PREVIOUS } from "../../query/query";
import { comparedShift, type ResolvedQuery, seriesAggregates, seriesRange } from "../../query/spec";
import type { Range } from "../../query/time";

export type Values = (number | null)[];

export interface Series {
  /** Stays the same from answer to answer. */
  readonly key: string;
  readonly label: string;
  /** The values of the columns that make up the series; none for `isOther`. */
  readonly picks: readonly PickedValue[];
  /** Whether it sums up the series beyond the limit. */
  readonly isOther: boolean;
  /** Of `isOther` the values of all other series: what it stands for is none of them. */
  readonly others: readonly (readonly PickedValue[])[];
  /** One for each bucket; null where nothing is known. */
  readonly values: Values;
  /** The same at the earlier time; null where there is no comparison. */
  readonly before: Values | null;
  /** The ends of each value's confidence interval; null where it has none. */
  readonly low: Values;
  readonly high: Values;
  /** The stored rows behind each value. */
  readonly samples: number[];
  /** The sum over the range; null for measures that do not add up, or of nothing. */
  readonly total: number | null;
  readonly totalBefore: number | null;
  /**
   * Of the whole buckets, where there are some: the last that is known, the smallest, the largest.
   * What adds up is at least as large as a part of it, so the largest may be in a cut bucket.
   */
  readonly last: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

export interface TimeSeries {
  /** What is measured, as people read it. */
  readonly label: string;
  readonly additive: boolean;
  /** The unit of its values; null for none. */
  readonly unit: Unit | null;
  /** Whether small changes of it may be none. */
  readonly estimated: boolean;
  /** The time that is asked; its ends may cut the first and the last bucket. */
  readonly range: Range;
  /** The length of a bucket in milliseconds. */
  readonly step: number;
  /** Where each bucket begins, in milliseconds. */
  readonly starts: number[];
  /** The largest first, "Other" last. */
  readonly series: Series[];
  /** Whether the asked time begins after the first bucket does. */
  readonly cutFirst: boolean;
  /** Whether it ends before the last bucket does. */
  readonly cutLast: boolean;
  /** How much earlier `before` was, as in `7d`, or `previous`; empty without a comparison. */
  readonly shift: string;
}

interface Line {
  key: string;
  label: string;
  picks: PickedValue[];
  isOther: boolean;
  /** Whether it has a value anywhere. */
  hasValue: boolean;
  values: Values;
  before: Values;
  low: Values;
  high: Values;
  samples: number[];
}

/** The series of one of the query's measures. */
export function seriesOf(
  answer: Answer,
  resolved: ResolvedQuery,
  measureIndex: number,
): TimeSeries {
  const { query } = resolved;
  const compared = answer.columns.length > 1 + query.group.length + seriesAggregates(query).length;
  const shift = compared ? (comparedShift(resolved) ?? 0) : 0;
  // A stale answer is drawn over its own range. It does not say where its previous period begins.
  const previous = compared && query.compare === PREVIOUS;
  const { range, start, bucket } = seriesRange({
    ...resolved,
    range: (previous ? null : answered(answer, shift, resolved.zone)) ?? resolved.range,
  });
  const step = durationMs(bucket) || 1000;
  const buckets = bucketsOf({ from: start, to: range.to }, bucket, resolved.zone);
  const measure = query.measures[measureIndex] ?? "";
  const additive = isAdditive(measure);
  const cutFirst = range.from > start;
  const cutLast = buckets.end > range.to;
  const grid = { compared, range, buckets, additive, cutFirst, cutLast };
  const lines = linesOf(answer, resolved, measureIndex, grid);
  const made = lines.map((line) => seriesFrom(line, { ...grid, isSum: isSum(measure) }));
  const sorted = made.sort(bySize);
  const others = sorted.filter(({ isOther }) => !isOther).map(({ picks }) => picks);
  return {
    label: measureLabel(measure),
    additive,
    unit: measureUnit(measure, resolved.columns),
    estimated: isEstimated(measure),
    range,
    step,
    starts: [...buckets.starts],
    series: sorted.map((it) => (it.isOther ? { ...it, others } : it)),
    cutFirst,
    cutLast,
    shift: compared ? query.compare : "",
  };
}

/** The range that an answer is of, where it says so; a compared one begins with the time before. */
function answered({ time }: Answer, shift: number, zone?: string): Range | null {
  const from = earlier(Date.parse(time?.from ?? ""), -shift, zone);
  const to = Date.parse(time?.to ?? "");
  return from < to ? { from, to } : null;
}

interface Grid {
  compared: boolean;
  range: Range;
  buckets: Buckets;
  additive: boolean;
  cutFirst: boolean;
  cutLast: boolean;
}

function linesOf(
  answer: Answer,
  resolved: ResolvedQuery,
  measureIndex: number,
  grid: Grid,
): Line[] {
  const { group, measures } = resolved.query;
  const time = grid.compared ? 1 : 0;
  const nothing = grid.additive ? 0 : null;
  const lines = new Map<string, Line>();
  const types = answer.columns.slice(time + 1).map(({ type }) => type);
  const lineOf = (cells: Cell[], isOther: boolean): Line => {
    const key = isOther ? "other" : group.length > 0 ? JSON.stringify(cells) : plain;
    const existing = lines.get(key);
    if (existing) return existing;
    const made: Line = {
      key,
      label: isOther ? "Other" : labelOf(cells) || measureLabel(plain),
      picks: isOther ? [] : picksOf(group, cells, types, resolved.columns),
      isOther,
      hasValue: false,
      values: new Array<number | null>(grid.buckets.starts.length).fill(nothing),
      before: new Array<number | null>(grid.buckets.starts.length).fill(nothing),
      low: new Array<number | null>(grid.buckets.starts.length).fill(null),
      high: new Array<number | null>(grid.buckets.starts.length).fill(null),
      samples: new Array<number>(grid.buckets.starts.length).fill(0),
    };
    lines.set(key, made);
    return made;
  };
  const plain = measures[measureIndex] ?? "";
  const place = time + 1 + group.length + seriesAggregates(resolved.query).indexOf(plain);
  // Without groups there is a series even where no row matches: it is zero, or not known.
  if (group.length === 0) lineOf([], false);
  answer.rows.forEach((row, at) => {
    const bucket = bucketAt(grid.buckets, momentOf(row[time]));
    if (bucket < 0) return;
    const line = lineOf(row.slice(time + 1, time + 1 + group.length), answer.other?.[at] ?? false);
    const value = numberOf(row[place]);
    line.hasValue ||= value !== null;
    const was = grid.compared && row[0] === "before";
    const factor = rated(bucket, was, plain, grid);
    const fair = value === null ? null : value * factor;
    if (was) line.before[bucket] = fair;
    else {
      line.values[bucket] = fair;
      line.samples[bucket] = answer.samples?.[at] ?? 0;
      const interval = intervalOf(answer, at, place);
      if (interval === null || interval === "too_few") return;
      line.low[bucket] = interval.low * factor;
      line.high[bucket] = interval.high * factor;
    }
  });
  return [...lines.values()];
}

/**
 * The factor by which a rate of a compared answer is too small. The server divides by the part of a
 * bucket between the start of `before` and the end of `now`. It ignores that the range cuts the last
 * bucket of `before` and the first of `now`.
 */
function rated(bucket: number, was: boolean, measure: string, grid: Grid): number {
  if (!grid.compared || !isRate(measure)) return 1;
  const { starts, end: last } = grid.buckets;
  const [start, end] = [starts[bucket] ?? 0, starts[bucket + 1] ?? last];
  const from = Math.max(start, grid.range.from);
  const to = Math.min(end, grid.range.to);
  return (was ? end - from : to - start) / (to - from);
}

const momentOf = (cell: Cell | undefined) =>
  typeof cell === "string" ? Date.parse(cell) : Number.NaN;

function labelOf(cells: Cell[]): string {
  const text = (cell: Cell) => {
    if (cell === null) return "(none)";
    if (Array.isArray(cell)) return listText(cell);
    return cell === "" ? "(empty text)" : visible(String(cell));
  };
  return cells.map(text).join(" · ");
}

function seriesFrom({ hasValue, ...line }: Line, of: Grid & { isSum: boolean }): Series {
  // As in SQL the sum of nothing is nothing, while none of something counts as zero.
  const nothing = of.isSum && !hasValue;
  if (nothing) line.values.fill(null);
  const before = of.compared ? line.before : null;
  const sum = (values: Values | null) =>
    of.additive && values && !nothing
      ? values.reduce<number>((total, it) => total + (it ?? 0), 0)
      : null;
  const values = wholeOf(line.values, of);
  const large = of.additive ? line.values.filter((it) => it !== null) : values;
  return {
    ...line,
    others: [],
    before,
    total: sum(line.values),
    totalBefore: sum(before),
    last: values.at(-1) ?? null,
    min: values.length > 0 ? values.reduce((a, b) => Math.min(a, b)) : null,
    max: large.length > 0 ? large.reduce((a, b) => Math.max(a, b)) : null,
  };
}

/** The known values of whole buckets: cut ones would always be the smallest, but beat nothing. */
function wholeOf(values: Values, { cutFirst, cutLast }: Grid): number[] {
  const isKnown = (value: number | null) => value !== null;
  const whole = values.slice(cutFirst ? 1 : 0, cutLast ? -1 : values.length).filter(isKnown);
  return whole.length > 0 ? whole : values.filter(isKnown);
}

function bySize(a: Series, b: Series): number {
  if (a.isOther !== b.isOther) return a.isOther ? 1 : -1;
  const size = (series: Series) => series.total ?? series.max ?? Number.NEGATIVE_INFINITY;
  return size(b) - size(a) || (a.label < b.label ? -1 : 1);
}

/** How each series is drawn, by its key. The ten largest share no colour, whatever their order. */
export function chartStrokes(chart: TimeSeries): Map<string, Stroke> {
  const keys = chart.series.filter((series) => !series.isOther).map((series) => series.key);
  const strokes = strokesOf([...keys.slice(0, 10).sort(), ...keys.slice(10)]);
  const other = { colour: OTHER_COLOUR, dashes: null };
  for (const { key, isOther } of chart.series) if (isOther) strokes.set(key, other);
  return strokes;
}
