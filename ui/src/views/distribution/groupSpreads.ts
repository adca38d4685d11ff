// The distributions of groups, out of one answer.

import type { Answer, Cell } from "../../api/types";
import { type Spread, spreadBetween, spreadOf } from "../../charts/distribution/data";

export interface GroupSpread {
  readonly keys: readonly Cell[];
  readonly spread: Spread;
}

/** One distribution for each group, in the order of the answer; one of all rows without groups. */
export function groupSpreads(
  answer: Answer,
  groups: number,
  bins: { log: boolean } | null,
): GroupSpread[] {
  const first = answer.columns[0]?.name === "side" ? 1 : 0;
  const column = first + groups;
  const parts = new Map<string, { keys: Cell[]; rows: Cell[][] }>();
  for (const row of answer.rows) {
    const keys = row.slice(first, column);
    const name = JSON.stringify(keys);
    const part = parts.get(name) ?? { keys, rows: [] };
    part.rows.push([...row.slice(0, first), row[column] ?? null]);
    parts.set(name, part);
  }
  const columns = [...answer.columns.slice(0, first), ...answer.columns.slice(column, column + 1)];
  return [...parts.values()].map(({ keys, rows }) => {
    const part = { ...answer, columns, rows };
    return { keys, spread: bins ? spreadBetween(part, bins.log) : spreadOf(part) };
  });
}
