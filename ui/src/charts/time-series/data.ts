// From the answer of a time series to what is drawn: the full grid of buckets for every series.

import { numberOf } from "../../api/client";
import type { Answer, Cell } from "../../api/types";
import { coloursOf, OTHER_COLOUR } from "../../base/colours";
import { durationMs } from "../../base/duration";
import type { Pick } from "../../query/edit";
import { isAdditive, measureLabel } from "../../query/measure";
import { type Asked, aggregatesOf, seriesRange } from "../../query/spec";
import { columnOf } from "../../query/sql";
import type { Range } from "../../query/time";

export type Values = (number | null)[];

export interface Series {
  /** Stays the same from answer to answer. */
  readonly key: string;
  readonly label: string;
  /** The values of the columns that make up the series; none for `isOther`. */
  readonly picks: Pick[];
  /** Whether it sums up the series beyond the limit. */
  readonly isOther: boolean;
  /** One for each bucket; null where nothing is known. */
  readonly values: Values;
  /** The same at the earlier time; null where there is no comparison. */
  readonly before: Values | null;
  /** The stored rows behind each value. */
  readonly samples: number[];
  /** The sum over the range; null for measures that do not add up. */
  readonly total: number | null;
  readonly totalBefore: number | null;
  /** Of the whole buckets only: the last that is known, the smallest, the largest. */
  readonly last: number | null;
  readonly lastBefore: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

export interface TimeSeries {
  /** What is measured, as people read it. */
  readonly label: string;
  readonly additive: boolean;
  /** From where the first bucket begins to where the asked time ends. */
  readonly range: Range;
  /** The length of a bucket in milliseconds. */
  readonly step: number;
  /** Where each bucket begins, in milliseconds. */
  readonly starts: number[];
  /** The largest first, "Other" last. */
  readonly series: Series[];
  /** Whether the asked time ends before the last bucket does. */
  readonly incomplete: boolean;
  /** How much earlier `before` was, as in `7d`; empty without a comparison. */
  readonly shift: string;
}

interface Line {
  key: string;
  label: string;
  picks: Pick[];
  isOther: boolean;
  values: Values;
  before: Values;
  samples: number[];
}

/** The series of one of the question's measures. */
export function seriesOf(answer: Answer, asked: Asked, measureIndex: number): TimeSeries {
  const { question } = asked;
  const { range, bucket } = seriesRange(asked);
  const step = durationMs(bucket) || 1000;
  const buckets = Math.max(1, Math.ceil((range.to - range.from) / step));
  const starts = Array.from({ length: buckets }, (_, at) => range.from + at * step);
  const measure = question.measures[measureIndex] ?? "";
  const additive = isAdditive(measure);
  const incomplete = range.from + buckets * step > range.to;
  const compared =
    answer.columns.length > 1 + question.group.length + aggregatesOf(question).length;
  const lines = linesOf(answer, asked, measureIndex, { compared, range, step, buckets, additive });
  const series = lines.map((line) => seriesFrom(line, { additive, compared, incomplete }));
  return {
    label: measureLabel(measure),
    additive,
    range,
    step,
    starts,
    series: series.sort(bySize),
    incomplete,
    shift: compared ? question.compare : "",
  };
}

interface Grid {
  compared: boolean;
  range: Range;
  step: number;
  buckets: number;
  additive: boolean;
}

function linesOf(answer: Answer, asked: Asked, measureIndex: number, grid: Grid): Line[] {
  const { group, measures } = asked.question;
  const time = grid.compared ? 1 : 0;
  const nothing = grid.additive ? 0 : null;
  const lines = new Map<string, Line>();
  const lineOf = (cells: Cell[], isOther: boolean): Line => {
    const key = isOther ? "other" : group.length > 0 ? JSON.stringify(cells) : plain;
    const known = lines.get(key);
    if (known) return known;
    const made: Line = {
      key,
      label: isOther ? "Other" : labelOf(cells) || measureLabel(plain),
      picks: isOther ? [] : picksOf(answer, group, cells, time + 1),
      isOther,
      values: new Array<number | null>(grid.buckets).fill(nothing),
      before: new Array<number | null>(grid.buckets).fill(nothing),
      samples: new Array<number>(grid.buckets).fill(0),
    };
    lines.set(key, made);
    return made;
  };
  const plain = measures[measureIndex] ?? "";
  // Without groups there is a series even where no row matches: it is zero, or not known.
  if (group.length === 0) lineOf([], false);
  answer.rows.forEach((row, at) => {
    const bucket = Math.floor((momentOf(row[time]) - grid.range.from) / grid.step);
    if (!(bucket >= 0 && bucket < grid.buckets)) return;
    const line = lineOf(row.slice(time + 1, time + 1 + group.length), answer.other?.[at] ?? false);
    const value = numberOf(row[time + 1 + group.length + measureIndex]);
    if (grid.compared && row[0] === "before") line.before[bucket] = value;
    else {
      line.values[bucket] = value;
      line.samples[bucket] = answer.samples?.[at] ?? 0;
    }
  });
  return [...lines.values()];
}

const momentOf = (cell: Cell | undefined) =>
  typeof cell === "string" ? Date.parse(cell) : Number.NaN;

function labelOf(cells: Cell[]): string {
  const text = (cell: Cell) => {
    if (cell === null) return "(none)";
    if (Array.isArray(cell)) return cell.length === 0 ? "(empty)" : cell.join(", ");
    return cell === "" ? "(empty text)" : String(cell);
  };
  return cells.map(text).join(" · ");
}

function picksOf(answer: Answer, group: readonly string[], cells: Cell[], first: number): Pick[] {
  return group.flatMap((expression, at) => {
    const column = columnOf(expression);
    if (column === null) return [];
    const type = answer.columns[first + at]?.type ?? "string";
    return [{ column, value: cells[at] ?? null, type }];
  });
}

function seriesFrom(
  line: Line,
  of: { additive: boolean; compared: boolean; incomplete: boolean },
): Series {
  const before = of.compared ? line.before : null;
  const sum = (values: Values | null) =>
    of.additive && values ? values.reduce<number>((total, it) => total + (it ?? 0), 0) : null;
  // A bucket that still fills would always be the smallest; alone it is better than nothing.
  const whole = (values: Values) =>
    (of.incomplete && values.length > 1 ? values.slice(0, -1) : values).filter((it) => it !== null);
  const values = whole(line.values);
  return {
    ...line,
    before,
    total: sum(line.values),
    totalBefore: sum(before),
    last: values.at(-1) ?? null,
    lastBefore: before ? (whole(before).at(-1) ?? null) : null,
    min: values.length > 0 ? values.reduce((a, b) => Math.min(a, b)) : null,
    max: values.length > 0 ? values.reduce((a, b) => Math.max(a, b)) : null,
  };
}

function bySize(a: Series, b: Series): number {
  if (a.isOther !== b.isOther) return a.isOther ? 1 : -1;
  const size = (it: Series) => it.total ?? it.max ?? Number.NEGATIVE_INFINITY;
  return size(b) - size(a) || (a.label < b.label ? -1 : 1);
}

/** The colour of each series by its key. The ten largest do not share, in whatever order they are. */
export function chartColours(chart: TimeSeries): Map<string, string> {
  const keys = chart.series.filter((series) => !series.isOther).map((series) => series.key);
  const colours = coloursOf([...keys.slice(0, 10).sort(), ...keys.slice(10)]);
  for (const { key, isOther } of chart.series) if (isOther) colours.set(key, OTHER_COLOUR);
  return colours;
}
