// How many events come to a table now: the last hour, minute by minute.

import { numberOf } from "../../api/client";
import type { Answer, QuerySpec } from "../../api/types";
import { columnIndex } from "../../explore/answers";
import { EVENTS } from "../../query/spec";
import { isoText } from "../../query/time";

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** Minutes whose mean is the rate: a single one may have nothing by chance. */
const LAST = 5;

/** The request for the last whole minutes before a moment. */
export function rateSpec(table: string, now: number): QuerySpec {
  const to = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return {
    table,
    from: isoText(to - MINUTES * MINUTE_MS),
    to: isoText(to),
    bucket: "1m",
    aggregates: [EVENTS],
  };
}

export interface Rate {
  /** Events of each minute, the oldest first. */
  readonly minutes: number[];
  readonly perSecond: number;
}

/** The minutes of an answer to `rateSpec`; those without rows are zero. */
export function rateOf(answer: Answer, { from = "" }: QuerySpec): Rate {
  const first = Date.parse(from);
  const minutes = new Array<number>(MINUTES).fill(0);
  const [time, events] = [0, columnIndex(answer, EVENTS)];
  for (const row of answer.rows) {
    const at = Math.round((Date.parse(String(row[time])) - first) / MINUTE_MS);
    if (at >= 0 && at < MINUTES) minutes[at] = numberOf(row[events]) ?? 0;
  }
  const last = minutes.slice(-LAST);
  return { minutes, perSecond: last.reduce((sum, it) => sum + it, 0) / (LAST * 60) };
}
