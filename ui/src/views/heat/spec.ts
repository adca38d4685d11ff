// The requests of the heat map: first the ends of the values, then the events of each cell.

import { numberOf } from "../../api/client";
import type { Answer, QuerySpec } from "../../api/types";
import { roundStep } from "../../base/roundStep";
import type { Cut } from "../../charts/heat/data";
import { baseSpec, compareOf, EVENTS, type ResolvedQuery, seriesRange } from "../../query/spec";
import { quoteName } from "../../query/sql";

/** The ends and the middle of a column's values. */
export function endsSpec(resolved: ResolvedQuery, column: string): QuerySpec {
  const name = quoteName(column);
  return {
    ...baseSpec(resolved),
    aggregates: [
      `min(${name}) AS least`,
      `percentile(${name}, 1) AS p01`,
      `percentile(${name}, 99) AS p99`,
      `max(${name}) AS most`,
      EVENTS,
    ],
  };
}

/** What `endsSpec` was answered. */
export interface Ends {
  readonly least: number;
  readonly p01: number;
  readonly p99: number;
  readonly most: number;
}

/** The ends of an answer; null if no row has a value. */
export function endsOf(answer: Answer | undefined): Ends | null {
  const [least, p01, p99, most] = (answer?.rows[0] ?? []).map(numberOf);
  if (least == null || p01 == null || p99 == null || most == null) return null;
  return { least, p01, p99, most };
}

/** Values that reach over more than this factor are cut by their logarithms. */
const LOG_FACTOR = 30;
const ROWS_PER_DECADE = 8;
const ROWS = 30;

/** How values are cut into rows; `scale` is what the address says, or empty. */
export function cutOf(ends: Ends, scale: string): Cut {
  const canLog = ends.most > 0;
  const wide = ends.p01 > 0 && ends.p99 / ends.p01 > LOG_FACTOR;
  if (canLog && (scale === "log" || (scale === "" && wide))) {
    return { log: true, step: 1 / ROWS_PER_DECADE };
  }
  return { log: false, step: Math.max(roundStep(ends.p99 - ends.p01, ROWS), Number.MIN_VALUE) };
}

/** Events by time and row of values. Beyond the middle 98 % a linear scale ends. */
export function cellsSpec(
  resolved: ResolvedQuery,
  column: string,
  ends: Ends,
  cut: Cut,
): QuerySpec {
  const series = seriesRange(resolved);
  const { filter = [], ...rest } = baseSpec({ ...resolved, range: series.range });
  const name = quoteName(column);
  const row = cut.log
    ? `floor(log10(${name}) * ${ROWS_PER_DECADE})`
    : `floor(${name} / ${numberSql(cut.step)})`;
  const low = Math.floor(ends.p01 / cut.step) * cut.step;
  const high = (Math.floor(ends.p99 / cut.step) + 1) * cut.step;
  const within = cut.log
    ? `${name} > 0`
    : `${name} >= ${numberSql(low)} AND ${name} < ${numberSql(high)}`;
  return {
    ...rest,
    filter: [...filter, within],
    bucket: series.bucket,
    group_by: [`${row} AS row`],
    aggregates: [EVENTS],
    ...compareOf({ ...resolved, range: series.range }),
  };
}

/** A number as SQL reads it, without the noise of binary fractions. */
const numberSql = (value: number) => String(Number(value.toPrecision(12)));
