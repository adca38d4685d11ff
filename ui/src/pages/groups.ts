// The rows of the table view: groups, their measures now and before, what they rest on.

import { numberOf } from "../api/client";
import type { Answer, Cell, Type } from "../api/types";
import type { Pick } from "../query/edit";
import { isAdditive } from "../query/measure";
import type { Question } from "../query/question";
import { orderOf } from "../query/spec";
import { columnOf } from "../query/sql";
import { sides } from "./answers";

export interface GroupRow {
  readonly keys: readonly Cell[];
  readonly measures: readonly Cell[];
  /** The same measures before; null where the group did not exist, or nothing is compared. */
  readonly before: readonly Cell[] | null;
  readonly samples: number;
}

export interface GroupTable {
  readonly keyNames: readonly string[];
  readonly keyTypes: readonly Type[];
  readonly rows: readonly GroupRow[];
  /** Groups that were found in all, before the limit. */
  readonly found: number;
  readonly compared: boolean;
}

/** Joins the two sides of an answer to `tableSpec`, sorts and cuts them as the question says. */
export function groupTable(answer: Answer, question: Question): GroupTable {
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const measuresAt = first + question.group.length;
  const measuresOf = (row: Cell[]) => row.slice(measuresAt, measuresAt + question.measures.length);
  const keysOf = (row: Cell[]) => row.slice(first, measuresAt);
  const earlier = new Map(before?.map(([row]) => [JSON.stringify(keysOf(row)), measuresOf(row)]));
  const rows: GroupRow[] = now.map(([row, at]) => {
    const key = JSON.stringify(keysOf(row));
    const was = earlier.get(key) ?? null;
    earlier.delete(key);
    return {
      keys: keysOf(row),
      measures: measuresOf(row),
      before: was,
      samples: answer.samples?.[at] ?? 0,
    };
  });
  // Groups that are no more are news as well.
  for (const [key, was] of earlier) {
    rows.push({
      keys: JSON.parse(key) as Cell[],
      measures: was.map(() => null),
      before: was,
      samples: 0,
    });
  }
  if (before !== null) sortRows(rows, question);
  const heads = answer.columns.slice(first, measuresAt);
  return {
    keyNames: heads.map((column) => column.name),
    keyTypes: heads.map((column) => column.type),
    rows: rows.slice(0, question.limit),
    found: rows.length,
    compared: before !== null,
  };
}

function sortRows(rows: GroupRow[], question: Question): void {
  const { by, ascending } = orderOf(question);
  const measure = question.measures.indexOf(by);
  const group = question.group.indexOf(by);
  const cell = (row: GroupRow) => (measure >= 0 ? row.measures[measure] : row.keys[group]) ?? null;
  rows.sort((a, b) => order(cell(a), cell(b), ascending));
}

/** Numbers by size, texts by letters, what is missing last. */
function order(a: Cell, b: Cell, ascending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const [x, y] = [numberOf(a), numberOf(b)];
  const difference = x !== null && y !== null ? x - y : String(a) < String(b) ? -1 : 1;
  return ascending ? difference : -difference;
}

/** The values of a group as a click picks them; expressions that are no column cannot be picked. */
export function groupPicks(
  question: Question,
  keys: readonly Cell[],
  types: readonly Type[],
): Pick[] {
  return question.group.flatMap((expression, at) => {
    const column = columnOf(expression);
    const type = types[at];
    return column === null || type === undefined ? [] : [{ column, value: keys[at] ?? null, type }];
  });
}

/** What the groups beyond the shown ones hold: the total less the shown, where that adds up. */
export function otherMeasures(
  question: Question,
  shown: readonly (readonly Cell[])[],
  total: readonly Cell[],
): (number | null)[] {
  return question.measures.map((measure, at) => {
    const whole = numberOf(total[at]);
    if (!isAdditive(measure) || whole === null) return null;
    return whole - shown.reduce((sum, row) => sum + (numberOf(row[at]) ?? 0), 0);
  });
}
