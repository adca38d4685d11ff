// Marks in time from the rows of a table, such as a table of deploys.

import type { Answer, QuerySpec, Table } from "../../api/types";
import type { Zone } from "../../base/zone";
import type { TimeMark } from "../../charts/time-series/markLines";
import { cellText } from "../../explore/CellText";
import { quoteName } from "../../query/sql";
import { isoText, type Range } from "../../query/time";

/** More marks than these would hide the lines. */
export const MARKS_MOST = 100;

/** Where marks come from: a table, and the column that names them. */
export interface MarkSource {
  readonly table: string;
  /** Empty: each is called as the table. */
  readonly column: string;
}

/** The source in a text of the address: the table, a space, the column; null for none. */
export function markSource(text: string): MarkSource | null {
  const [, table, column = ""] = /^(\S+)(?:\s+(.*))?$/.exec(text.trim()) ?? [];
  return table === undefined ? null : { table, column };
}

/** The text of a source. */
export const sourceText = ({ table, column }: MarkSource): string => `${table} ${column}`.trim();

/** The request for the first marks in a range; null without a source, or a table. */
export function marksSpec(
  source: MarkSource | null,
  table: Pick<Table, "time_column"> | undefined,
  range: Range,
): QuerySpec | null {
  if (!source || !table) return null;
  const time = quoteName(table.time_column);
  return {
    table: source.table,
    from: isoText(range.from),
    to: isoText(range.to),
    columns: source.column === "" ? [time] : [time, quoteName(source.column)],
    order_by: [time],
    limit: MARKS_MOST,
  };
}

/** The marks of an answer to `marksSpec`. */
export function marksOf(answer: Answer, source: MarkSource, zone: Zone): TimeMark[] {
  const type = answer.columns[1]?.type ?? "null";
  return answer.rows.flatMap(([time, name = null]) => {
    const at = Date.parse(String(time));
    if (Number.isNaN(at)) return [];
    return [{ at, label: name === null ? source.table : cellText(name, type, zone) }];
  });
}
