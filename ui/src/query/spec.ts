// From the question to what the server is asked, a function for each kind of answer.

import type { Column, QuerySpec } from "../api/types";
import { durationMs } from "../base/duration";
import { filterSql, typeOf } from "./filter";
import { LIMIT_MAX, type Question } from "./question";
import { quoteName } from "./sql";
import { aligned, bucketOf, type Range } from "./time";

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
    from: new Date(range.from).toISOString(),
    to: new Date(range.to).toISOString(),
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

/** Why a question cannot be compared with an earlier time; null if it can, or is not. */
export function compareProblem(question: Question, range: Range): string | null {
  if (question.compare === "" || question.view === "samples") return null;
  const shift = durationMs(question.compare) ?? 0;
  return range.to - range.from > shift
    ? `The time range is longer than ${question.compare}: pick a shorter one to compare.`
    : null;
}

function compare(question: Question, range: Range): Pick<QuerySpec, "compare"> {
  if (question.compare === "" || compareProblem(question, range)) return {};
  return { compare: { shift: question.compare } };
}

/** The range of a time series: begun where a bucket does, unless a comparison forbids it. */
export function seriesRange(asked: Asked): { range: Range; bucket: string } {
  const bucket = bucketOf(asked.question, asked.range);
  const wide = aligned(asked.range, bucket);
  const fits = compareProblem(asked.question, wide) === null;
  const step = durationMs(bucket) ?? 0;
  const narrow = wide.from === asked.range.from ? wide : { ...wide, from: wide.from + step };
  return { range: fits ? wide : narrow, bucket };
}

/** Series over time: measures by group, the top series and the rest as "other". */
export function timeSpec(asked: Asked): QuerySpec {
  const { question } = asked;
  const { range, bucket } = seriesRange(asked);
  return {
    ...base({ ...asked, range }),
    bucket,
    group_by: [...question.group],
    aggregates: aggregatesOf(question),
    ...(question.group.length > 0 ? { series: question.series } : {}),
    ...compare(question, range),
  };
}

/** Groups and their measures. Compared groups are sorted and cut once both sides are joined. */
export function tableSpec(asked: Asked): QuerySpec {
  const { question, range } = asked;
  const compared = compare(question, range);
  return {
    ...base(asked),
    group_by: [...question.group],
    aggregates: aggregatesOf(question),
    order_by: [orderSql(question)],
    limit: compared.compare ? 20_000 : question.limit,
    ...compared,
  };
}

/** What the table is sorted by, as it stands in the question or by itself. */
export function orderOf(question: Question): { by: string; ascending: boolean } {
  const [, by = "", direction] = /^(.*?)( asc)?$/s.exec(question.order) ?? [];
  const known = question.group.includes(by) || question.measures.includes(by);
  return {
    by: known ? by : (question.measures[0] ?? EVENTS),
    ascending: known && direction !== undefined,
  };
}

function orderSql(question: Question): string {
  const { by, ascending } = orderOf(question);
  return `${by} ${ascending ? "ASC NULLS LAST" : "DESC NULLS LAST"}`;
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

/** How the values of a column spread over buckets between two numbers, both included. */
export function histogramSpec(asked: Asked, column: string, low: number, high: number): QuerySpec {
  const { filter = [], ...rest } = base(asked);
  const name = quoteName(column);
  return {
    ...rest,
    filter: [...filter, `${name} BETWEEN ${low} AND ${high}`],
    aggregates: [`histogram(${name}, 60) AS spread`],
    ...compare(asked.question, asked.range),
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
