// The tooltip of a time bucket: each series with its value, and with its value in the compared
// range.

import { change, counted, exact, exactly, SKETCH_STEP } from "../../base/format";
import { inUnit, type Unit } from "../../base/units";
import { timeText, type Zone } from "../../base/zone";
import { PREVIOUS } from "../../query/query";
import { type Point, Tip, type TipLine } from "../echart-tip";
import type { TimeSeries } from "./data";
import type { Drawn } from "./option";

const LINES = 12;
/** Values that rest on fewer stored rows are not to be leaned on. */
const FEW = 10;

/** The tooltip of a bucket. */
export function SeriesTip(props: {
  chart: TimeSeries;
  drawn: readonly Drawn[];
  bin: number;
  near: Drawn | null;
  zone: Zone;
  at: Point;
}) {
  const { chart, drawn, bin, near, zone, at } = props;
  const compared = chart.shift !== "";
  const sorted = sortedAt(drawn, bin);
  const shown = shownOf(sorted, near);
  const lines = shown.map((one) => lineOf(one, bin, one === near || sorted.length === 1, chart));
  const rows = (near ? [near] : drawn).reduce((sum, it) => sum + (it.series.samples[bin] ?? 0), 0);
  const whose = near && drawn.length > 1 ? ` of ${clipped(near.series.label)}` : "";
  const more = sorted.length - shown.length;
  const note = cutNote(chart, bin, zone);
  return (
    <Tip
      at={at}
      head={bucketText(chart, bin, zone)}
      {...(note === null ? {} : { note })}
      lines={lines}
      columns={
        compared
          ? ["", chart.shift === PREVIOUS ? PREVIOUS : `${chart.shift} before`, "change"]
          : []
      }
      foot={`${more > 0 ? `… ${more} more · ` : ""}${counted(rows, "row")}${whose}${betweenText(chart, near ?? drawn[0], bin)}`}
    />
  );
}

/** The series that have something in a bucket, the largest first, "Other" last. */
export function sortedAt(drawn: readonly Drawn[], bin: number): Drawn[] {
  const value = ({ series }: Drawn) => series.values[bin] ?? Number.NEGATIVE_INFINITY;
  return drawn
    .filter(({ series }) => series.values[bin] != null || series.before?.[bin] != null)
    .sort((a, b) => Number(a.series.isOther) - Number(b.series.isOther) || value(b) - value(a));
}

/** The first lines; the one that is pointed at is always among them. */
function shownOf(sorted: Drawn[], near: Drawn | null): Drawn[] {
  if (sorted.length <= LINES + 1) return sorted;
  const first = sorted.slice(0, LINES);
  if (!near || first.includes(near)) return first;
  return [...first.slice(0, -1), near];
}

function lineOf(one: Drawn, bin: number, strong: boolean, chart: TimeSeries): TipLine {
  const { key, label, samples } = one.series;
  const now = one.series.values[bin] ?? null;
  const before = one.series.before?.[bin] ?? null;
  return {
    key,
    colour: one.colour,
    name: label,
    values: [numberText(now, strong, chart.unit), ...beforeTexts(now, before, chart)],
    strong,
    weak: now !== null && now !== 0 && (samples[bin] ?? 0) < FEW,
  };
}

function beforeTexts(now: number | null, before: number | null, chart: TimeSeries): string[] {
  if (chart.shift === "") return [];
  const step = chart.estimated ? SKETCH_STEP : 0;
  return [numberText(before, false, chart.unit), change(now, before, step) ?? "–"];
}

/** Digits beyond the tenth that matter are noise of an average. */
function numberText(value: number | null, inFull: boolean, unit: Unit | null): string {
  if (value === null) return "–";
  if (!inFull || unit !== null) return inUnit(value, unit);
  return Number.isInteger(value) ? exact(value) : exactly(value);
}

/** Between what the value is with 95 % confidence, where that is known and says something. */
function betweenText({ unit }: TimeSeries, one: Drawn | undefined, bin: number): string {
  const [low, high] = [one?.series.low[bin] ?? null, one?.series.high[bin] ?? null];
  if (low === null || high === null || low >= high) return "";
  return ` · 95 %: ${inUnit(low, unit)} – ${inUnit(high, unit)}`;
}

const clipped = (text: string) => (text.length > 30 ? `${text.slice(0, 29)}…` : text);

const DAY = 86_400_000;

/** The time of a bucket: `2026-11-21 03:50 – 03:55`. */
export function bucketText(chart: TimeSeries, bin: number, zone: Zone): string {
  const start = chart.starts[bin] ?? 0;
  const end = chart.starts[bin + 1] ?? start + chart.step;
  const length = chart.step % 60_000 === 0 ? 16 : 19;
  const [from, to] = [timeText(start, zone), timeText(end, zone)];
  const atMidnight = from.endsWith("00:00:00") && to.endsWith("00:00:00");
  if (chart.step >= DAY && atMidnight) {
    // Days are named with the last one that belongs to the bucket.
    const last = timeText(end - 1, zone).slice(0, 10);
    return last === from.slice(0, 10) ? last : `${from.slice(0, 10)} – ${last}`;
  }
  const sameDay = from.slice(0, 10) === to.slice(0, 10);
  return `${from.slice(0, length)} – ${to.slice(sameDay ? 11 : 0, length)}`;
}

/** Why a bucket is not whole: the asked time begins or ends within it, or it still fills. */
function cutNote(chart: TimeSeries, bin: number, zone: Zone): string | null {
  const first = chart.cutFirst && bin === 0;
  const last = chart.cutLast && bin === chart.starts.length - 1;
  const from = timeText(chart.range.from, zone).slice(11);
  if (first && !last) return `only from ${from} on`;
  if (first) return `only ${from} – ${timeText(chart.range.to, zone).slice(11)}`;
  if (!last) return null;
  if (Date.now() - chart.range.to < Math.max(chart.step, 60_000)) return "still filling";
  return `only until ${timeText(chart.range.to, zone).slice(11)}`;
}

/** A bucket in words, for who cannot see it. */
export function spokenBucket(chart: TimeSeries, drawn: readonly Drawn[], bin: number, zone: Zone) {
  const values = sortedAt(drawn, bin).slice(0, 5);
  const said = values.map(
    ({ series }) => `${series.label} ${inUnit(series.values[bin] ?? 0, chart.unit)}`,
  );
  return `${bucketText(chart, bin, zone)}: ${said.join(", ") || "nothing"}`;
}
