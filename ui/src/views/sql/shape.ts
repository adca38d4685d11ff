// What can be drawn of a result: a line over its time column, bars of its groups, large numbers.

import { numberOf } from "../../api/client";
import type { Answer, Cell, Column } from "../../api/types";
import { listText, visible } from "../../base/format";
import type { Series, TimeSeries, Values } from "../../charts/time-series/data";
import { PICTURES, type Picture } from "./options";
import { resultUnit } from "./resultNumbers";

const BARS_MOST = 50;
const BARS_WIDEST = 3;
const NUMBERS_MOST = 12;
/** More lines, or more buckets, are not told apart. */
const LINES_MOST = 50;
const BUCKETS_MOST = 5000;

interface ColumnPlaces {
  /** The places of the columns that are times, numbers, and others. */
  readonly times: readonly number[];
  readonly numbers: readonly number[];
  readonly others: readonly number[];
}

function shapeOf({ columns }: Answer): ColumnPlaces {
  const places = (fits: (type: string) => boolean) =>
    columns.flatMap(({ type }, at) => (fits(type) ? [at] : []));
  return {
    times: places((type) => type === "time"),
    numbers: places((type) => type === "number"),
    others: places((type) => type !== "time" && type !== "number"),
  };
}

/** The ways in which a result can be drawn, the table among them. */
export function picturesOf(answer: Answer): Picture[] {
  const { times, numbers, others } = shapeOf(answer);
  const rows = answer.rows.length;
  const fits: Record<Picture, boolean> = {
    table: true,
    line: times.length === 1 && numbers.length > 0 && rows > 1 && lineOf(answer) !== null,
    bar:
      times.length === 0 &&
      others.length > 0 &&
      numbers.length > 0 &&
      rows > 1 &&
      rows <= BARS_MOST,
    number:
      rows === 1 && numbers.length === answer.columns.length && numbers.length <= NUMBERS_MOST,
  };
  return PICTURES.filter((it) => fits[it]);
}

/** How a result is drawn where nothing is chosen, or where it has not the shape that was chosen. */
export function pictureOf(answer: Answer, chosen: Picture | ""): Picture {
  const pictures = picturesOf(answer);
  if (chosen !== "" && pictures.includes(chosen)) return chosen;
  const suggested = pictures.at(-1) ?? "table";
  // Wider results, such as that of DESCRIBE, are tables.
  return suggested === "bar" && answer.columns.length > BARS_WIDEST ? "table" : suggested;
}

/** What the values of a row are called that are no numbers and no times. */
export function rowLabel(row: readonly Cell[], places: readonly number[]): string {
  return places.map((at) => cellText(row[at] ?? null)).join(" · ");
}

function cellText(cell: Cell): string {
  if (cell === null) return "(none)";
  if (Array.isArray(cell)) return listText(cell);
  return cell === "" ? "(empty text)" : visible(String(cell));
}

/** The bars of each number column. */
export function barsOf(
  answer: Answer,
): { label: string; bars: { key: string; label: string; value: number | null }[] }[] {
  const { numbers, others } = shapeOf(answer);
  return numbers.map((place) => ({
    label: answer.columns[place]?.name ?? "",
    bars: answer.rows.map((row, at) => ({
      key: String(at),
      label: rowLabel(row, others),
      value: numberOf(row[place]),
    })),
  }));
}

/** The lines of a result over its time column; null where its times are no buckets of one length. */
export function lineOf(answer: Answer, columns: readonly Column[] = []): TimeSeries | null {
  const { times, numbers, others } = shapeOf(answer);
  const [time] = times;
  if (time === undefined || times.length > 1) return null;
  const moments = answer.rows.map((row) => Date.parse(String(row[time])));
  const distinct = [...new Set(moments.filter((it) => !Number.isNaN(it)))].sort((a, b) => a - b);
  const [first = 0] = distinct;
  const step = stepOf(distinct);
  const buckets = step === 0 ? 0 : Math.round(((distinct.at(-1) ?? first) - first) / step) + 1;
  if (buckets < 2 || buckets > BUCKETS_MOST) return null;
  const lines = new Map<string, Series>();
  answer.rows.forEach((row, at) => {
    const bucket = Math.round(((moments[at] ?? Number.NaN) - first) / step);
    if (!(bucket >= 0 && bucket < buckets)) return;
    for (const place of numbers) {
      const label = labelOf(answer, row, place, numbers.length, others);
      const line = lines.get(label) ?? emptyLine(label, buckets);
      lines.set(label, line);
      line.values[bucket] = numberOf(row[place]);
    }
  });
  if (lines.size > LINES_MOST) return null;
  const [single] = numbers.length === 1 ? numbers : [];
  const name = answer.columns[single ?? -1]?.name ?? "";
  return {
    label: numbers.map((at) => answer.columns[at]?.name ?? "").join(", "),
    additive: false,
    unit: resultUnit(name, columns),
    estimated: false,
    range: { from: first, to: first + buckets * step },
    step,
    starts: Array.from({ length: buckets }, (_, at) => first + at * step),
    series: [...lines.values()].map(measured),
    cutFirst: false,
    cutLast: false,
    shift: "",
  };
}

/** The largest length that all distances are whole numbers of; 0 if there is none. */
function stepOf(moments: readonly number[]): number {
  let step = 0;
  for (let at = 1; at < moments.length; at++) {
    let [a, b] = [step, (moments[at] ?? 0) - (moments[at - 1] ?? 0)];
    while (b > 0) [a, b] = [b, a % b];
    step = a;
  }
  return step;
}

function labelOf(
  answer: Answer,
  row: readonly Cell[],
  place: number,
  measures: number,
  others: readonly number[],
): string {
  const name = answer.columns[place]?.name ?? "";
  if (others.length === 0) return name;
  const group = rowLabel(row, others);
  return measures === 1 ? group : `${group}, ${name}`;
}

const emptyLine = (label: string, buckets: number): Series => ({
  key: label,
  label,
  picks: [],
  isOther: false,
  others: [],
  values: new Array<number | null>(buckets).fill(null),
  before: null,
  low: new Array<number | null>(buckets).fill(null),
  high: new Array<number | null>(buckets).fill(null),
  samples: new Array<number>(buckets).fill(0),
  total: null,
  totalBefore: null,
  last: null,
  min: null,
  max: null,
});

function measured(series: Series): Series {
  const present = (series.values as Values).filter((it) => it !== null);
  const most = present.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const least = present.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  if (present.length === 0) return series;
  return { ...series, last: present.at(-1) ?? null, min: least, max: most };
}
