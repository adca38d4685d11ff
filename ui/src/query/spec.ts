// From the question to what the server is asked, a function for each kind of answer.

import type { Column, QuerySpec } from "../api/types";
import { durationMs } from "../base/duration";
import { filterSql, typeOf } from "./filter";
import { LIMIT_MAX, type Question } from "./query";
import { quoteName, quoteText } from "./sql";
import { bucketOf, bucketStart, isoText, type Range } from "./time";

/** A question with what is known when it is asked. */
export interface Asked {
  readonly question: Question;
  readonly columns: readonly Column[];
  readonly range: Range;
}

/** Counted in every grouped answer, so that the corner can tell events and samples. */
export const EVENTS = "count(*)";

function base({ question, columns, range }: Asked): QuerySpec {
  const filter = question.filters.map((it) => filterSql(it, typeOf(columns, it.column)));
  if (question.where.trim() !== "") filter.push(question.where.trim());
  return {
    table: question.table,
    from: isoText(range.from),
    to: isoText(range.to),
    ...(filter.length > 0 ? { filter } : {}),
    ...(question.search.trim() === "" ? {} : { search: question.search.trim() }),
  };
}

/** The measures, and the count of events after them where it is not one of them. */
export function aggregatesOf(question: Question): string[] {
  return question.measures.includes(EVENTS)
    ? [...question.measures]
    : [...question.measures, EVENTS];
}

/**
 * What series are computed of. The server keeps those that are first by the first of them: by
 * events, where nobody ordered otherwise, since what is rare is easily extreme.
 */
export function seriesAggregates(question: Question): string[] {
  if (question.group.length === 0) return aggregatesOf(question);
  const { by } = orderOf(question);
  const first = question.order !== "" && question.measures.includes(by) ? by : EVENTS;
  return [first, ...aggregatesOf(question).filter((it) => it !== first)];
}

/** Why a question cannot be compared with an earlier time; null if it can, or is not. */
export function compareProblem(question: Question, range: Range): string | null {
  if (question.compare === "" || question.view === "samples") return null;
  const shift = durationMs(question.compare) ?? 0;
  return range.to - range.from > shift
    ? `The time range is longer than ${question.compare}: pick a shorter one to compare.`
    : null;
}

function compareOf(question: Question, range: Range): Pick<QuerySpec, "compare"> {
  if (question.compare === "" || compareProblem(question, range)) return {};
  return { compare: { shift: question.compare } };
}

/** The time of a series: what is asked of it, and where its first bucket begins. */
export interface SeriesRange {
  readonly range: Range;
  readonly start: number;
  readonly bucket: string;
}

/**
 * The asked range, whose ends may cut buckets. Only where the comparison reaches no further back
 * than the range is long, it begins with the first whole bucket: no bucket can be on both sides.
 */
export function seriesRange({ question, range }: Asked): SeriesRange {
  const bucket = bucketOf(question, range);
  const start = bucketStart(range.from, bucket);
  const shift = comparedShift(question, range);
  const next = start + (durationMs(bucket) ?? 0);
  if (shift === null || range.to - start <= shift || next >= range.to) {
    return { range, start, bucket };
  }
  return { range: { ...range, from: next }, start: next, bucket };
}

/** How much earlier the time is that a range is compared with; null if it is not compared. */
function comparedShift(question: Question, range: Range): number | null {
  const { compare } = compareOf(question, range);
  return compare ? durationMs(compare.shift) : null;
}

/** The earlier time that a question is compared with; null if it is with none. */
export function comparedRange({ question, range }: Asked): Range | null {
  const shift = comparedShift(question, range);
  return shift === null ? null : { from: range.from - shift, to: range.to - shift };
}

/** The server compares whole buckets: what the range cuts off of the first ones is filtered. */
function cutFilters(asked: Asked, { range, start }: SeriesRange): string[] {
  const shift = comparedShift(asked.question, range);
  if (shift === null || start === range.from) return [];
  const time = quoteName(asked.columns.find((it) => it.is_time)?.name ?? "time");
  const at = (ms: number) => quoteText(isoText(ms));
  return [
    `${time} >= ${at(range.from - shift)}`,
    `(${time} < ${at(start)} OR ${time} >= ${at(range.from)})`,
  ];
}

/** Series over time: measures by group, the top series and the rest as "other". */
export function timeSpec(asked: Asked): QuerySpec {
  const { question } = asked;
  const series = seriesRange(asked);
  const { filter = [], ...rest } = base({ ...asked, range: series.range });
  const filters = [...filter, ...cutFilters(asked, series)];
  return {
    ...rest,
    ...(filters.length > 0 ? { filter: filters } : {}),
    bucket: series.bucket,
    group_by: [...question.group],
    aggregates: seriesAggregates(question),
    ...(question.group.length > 0 ? { series: question.series } : {}),
    ...compareOf(question, series.range),
  };
}

/** Rows of both sides that a compared table looks at. */
export const COMPARED_MOST = 20_000;

/** Groups and their measures. Compared groups are sorted and cut once both sides are joined. */
export function tableSpec(asked: Asked): QuerySpec {
  const { question, range } = asked;
  const compared = compareOf(question, range);
  return {
    ...base(asked),
    group_by: [...question.group],
    aggregates: aggregatesOf(question),
    order_by: [orderSql(question)],
    limit: compared.compare ? COMPARED_MOST : question.limit,
    ...compared,
  };
}

/** How many events there are in all. */
export function eventsSpec(asked: Asked): QuerySpec {
  return { ...base(asked), aggregates: [EVENTS] };
}

/** What the table is sorted by, as it stands in the question or by itself. */
export function orderOf(question: Question): {
  by: string;
  ascending: boolean;
  /** By how much that changed; only of compared measures. */
  change: boolean;
} {
  const [, change, by = "", direction] = /^(change )?(.*?)( asc)?$/s.exec(question.order) ?? [];
  const changed = change !== undefined && question.compare !== "";
  const known =
    question.measures.includes(by) || (change === undefined && question.group.includes(by));
  return {
    by: known ? by : (question.measures[0] ?? EVENTS),
    ascending: known && direction !== undefined && (change === undefined || changed),
    change: known && changed,
  };
}

function orderSql(question: Question): string {
  const { by, ascending, change } = orderOf(question);
  // Changes are known once both sides are joined; until then the larger groups matter more.
  return `${by} ${ascending && !change ? "ASC NULLS LAST" : "DESC NULLS LAST"}`;
}

/** Raw rows, newest first. */
export function samplesSpec(asked: Asked, limit = asked.question.limit): QuerySpec {
  return { ...base(asked), limit: Math.min(limit, LIMIT_MAX) };
}

/** What the values of a number column are like: where they lie, how many there are. */
export function summarySpec(asked: Asked, column: string): QuerySpec {
  const name = quoteName(column);
  const percentiles = ["p01", "p05", "p25", "p50", "p75", "p95", "p99"];
  const parts = percentiles.map((it) => `percentile(${name}, ${Number(it.slice(1))}) AS ${it}`);
  const ends = [`min(${name}) AS smallest`, `max(${name}) AS largest`, `avg(${name}) AS mean`];
  return {
    ...base(asked),
    aggregates: [...ends, ...parts, `count(${name}) AS events`, `raw_count(${name}) AS samples`],
  };
}

/** Bars of a distribution at most. */
export const BARS_MAX = 60;

/**
 * Buckets to ask for of each side of a comparison. Those that fit the values of one side best need not
 * be those of the other; but as their widths are 1, 2 or 5 times a power of ten, buckets of which five
 * times as many may be are narrow enough to lie each in one bar of both.
 */
const BUCKETS_COMPARED = 5 * BARS_MAX + 1;

/**
 * How the values of a column spread over buckets between two numbers, both included; with all their
 * digits, since those of large ones are more than a double has.
 */
export function histogramSpec(asked: Asked, column: string, low: string, high: string): QuerySpec {
  const { filter = [], ...rest } = base(asked);
  const name = quoteName(column);
  const buckets = asked.question.compare === "" ? BARS_MAX : BUCKETS_COMPARED;
  return {
    ...rest,
    filter: [...filter, `${name} BETWEEN ${low} AND ${high}`],
    aggregates: [`histogram(${name}, ${buckets}) AS spread`],
    ...compareOf(asked.question, asked.range),
  };
}

/** The most frequent values of a column under the question's filters. */
export function topValuesSpec(asked: Asked, column: string, limit: number): QuerySpec {
  return {
    ...base(asked),
    group_by: [quoteName(column)],
    aggregates: [EVENTS],
    order_by: [`${EVENTS} DESC`],
    limit,
  };
}

/**
 * The most frequent values of a column that begin with a text in any letter case, of the rows that
 * the question is about but for what it asks of that column itself.
 */
export function valuesSpec(
  asked: Asked,
  column: Pick<Column, "name" | "type">,
  prefix: string,
  limit: number,
): QuerySpec {
  const filters = asked.question.filters.filter((it) => it.column !== column.name);
  const spec = topValuesSpec(
    { ...asked, question: { ...asked.question, filters } },
    column.name,
    limit,
  );
  if (prefix === "") return spec;
  const name = quoteName(column.name);
  const text = column.type === "string" ? name : `CAST(${name} AS string)`;
  const pattern = quoteText(`${prefix.replace(/[\\%_]/g, "\\$&")}%`);
  return { ...spec, filter: [...(spec.filter ?? []), `${text} ILIKE ${pattern}`] };
}
