// The numbers at the head of the overview: what most people ask of a table first, chosen by the
// names and types of its columns.

import type { Column } from "../../api/types";
import { unitOfColumn } from "../../base/units";
import { type Measure, measure, shareOf } from "../../query/measure";
import { EVENTS } from "../../query/spec";
import { quoteName } from "../../query/sql";

const STATUS = /^(http_?)?status(_?code)?$|^response_?(code|status)$/i;
const LEVEL = /^(log_?)?level$|^severity(_?text)?$/i;
const FAILED = /^(is_?)?(error|failed|failure)$/i;
const BAD_LEVELS = ["error", "err", "fatal", "critical", "crit", "panic", "alert", "emerg"];
const DURATION = /(^|_)(latency|duration|elapsed|took|response_time)(_|$)/i;
const TIME_UNITS: readonly (string | null)[] = ["ns", "us", "ms", "s"];

/** The measures of the head: events, the error rate and a latency where the columns have them. */
export function headlines(columns: readonly Column[], shown: Measure): Measure[] {
  const all = [EVENTS, errorRate(columns), latency(columns)];
  const measures = all.filter((it): it is Measure => it !== null);
  // Another name for the same share is the same number.
  const same = (other: Measure) => other === shown || (shareOf(other) ?? other) === shareOf(shown);
  return measures.some(same) ? measures.map((it) => (same(it) ? shown : it)) : [...measures, shown];
}

function errorRate(columns: readonly Column[]): Measure | null {
  const rate = (condition: string) => `avg(${condition}) AS "error rate"`;
  const status = columns.find((it) => STATUS.test(it.name) && it.type === "number");
  if (status && mayBeStatus(status)) return rate(`${quoteName(status.name)} >= 500`);
  const level = columns.find((it) => LEVEL.test(it.name) && it.type === "string");
  const bad = BAD_LEVELS.map((it) => `'${it}'`).join(", ");
  if (level) return rate(`lower(${quoteName(level.name)}) IN (${bad})`);
  const failed = columns.find((it) => FAILED.test(it.name) && it.type === "bool");
  return failed ? rate(`${quoteName(failed.name)} = true`) : null;
}

/** Whether its numbers are status codes of HTTP, as far as they are known yet. */
function mayBeStatus({ min, max }: Column): boolean {
  const within = (cell: Column["min"]) =>
    cell === null || (Number(cell) >= 0 && Number(cell) < 600);
  return within(min) && within(max);
}

function latency(columns: readonly Column[]): Measure | null {
  const numbers = columns.filter((it) => it.type === "number");
  const times = numbers.filter((it) => TIME_UNITS.includes(unitOfColumn(columns, it.name)));
  const column = times.find((it) => DURATION.test(it.name)) ?? times[0];
  const named = column ?? numbers.find((it) => DURATION.test(it.name));
  return named ? measure("p95", named.name) : null;
}
