// Groups as a table with two sides: the last group goes to the right, the others down.

import type { Cell } from "../../api/types";
import type { GroupRow, Groups, Value } from "../shared/groups";

export interface PivotLine {
  readonly keys: readonly Cell[];
  readonly texts: readonly string[];
  /** One for each column; undefined where no row is in the cell. */
  readonly cells: readonly (GroupRow | undefined)[];
}

export interface Pivot {
  readonly columns: readonly { readonly key: string; readonly text: string }[];
  readonly lines: readonly PivotLine[];
  /** Lines and columns that are not shown. */
  readonly hiddenLines: number;
  readonly hiddenColumns: number;
  /** The ends of the values of all cells. */
  readonly most: number;
}

const COLUMNS_MOST = 30;

/**
 * The cells of a measure, columns with the largest values first. Lines are in the order of the
 * groups, or, where they have sums, in that of the sums: the largest first, or last.
 */
export function pivotOf(
  groups: Groups,
  at: number,
  textsOf: (row: GroupRow) => string[],
  mostLines: number,
  sums: "largest first" | "smallest first" | null = null,
): Pivot {
  const lines = new Map<string, { keys: Cell[]; texts: string[]; cells: Map<string, GroupRow> }>();
  const columns = new Map<string, { key: string; text: string; size: number }>();
  for (const row of groups.rows) {
    const texts = textsOf(row);
    const columnKey = JSON.stringify(row.keys.at(-1) ?? null);
    const lineKey = JSON.stringify(row.keys.slice(0, -1));
    const size = row.values[at]?.now ?? 0;
    const column = columns.get(columnKey) ?? { key: columnKey, text: texts.at(-1) ?? "", size: 0 };
    columns.set(columnKey, { ...column, size: column.size + size });
    const line = lines.get(lineKey) ?? {
      keys: row.keys.slice(0, -1),
      texts: texts.slice(0, -1),
      cells: new Map<string, GroupRow>(),
    };
    lines.set(lineKey, line);
    line.cells.set(columnKey, row);
  }
  const sorted = [...columns.values()].sort((a, b) => b.size - a.size);
  const shown = sorted.slice(0, COLUMNS_MOST);
  const most = groups.rows.reduce((largest, row) => {
    const value = Math.abs(row.values[at]?.now ?? 0);
    return Number.isFinite(value) ? Math.max(largest, value) : largest;
  }, 0);
  const made: PivotLine[] = [...lines.values()].map(({ keys, texts, cells }) => ({
    keys,
    texts,
    cells: shown.map(({ key }) => cells.get(key)),
  }));
  return {
    columns: shown,
    lines: (sums === null ? made : bySums(made, at, sums === "smallest first")).slice(0, mostLines),
    hiddenLines: Math.max(0, lines.size - mostLines),
    hiddenColumns: sorted.length - shown.length,
    most,
  };
}

/** Lines in the order of the sums of what they show, those without any last. */
function bySums(lines: readonly PivotLine[], at: number, ascending: boolean): PivotLine[] {
  const sums = new Map(lines.map((line) => [line, sumOf(line.cells, at).now]));
  const place = (line: PivotLine) =>
    (sums.get(line) ?? Number.NEGATIVE_INFINITY) * (ascending ? -1 : 1);
  return lines.toSorted((a, b) => place(b) - place(a) || 0);
}

/** The sum of cells of a measure that adds up, at both times. */
export function sumOf(cells: readonly (GroupRow | undefined)[], at: number): Value {
  const values = cells.flatMap((it) => it?.values[at] ?? []);
  const sum = (read: (value: Value) => number | null) =>
    values.some((it) => read(it) !== null)
      ? values.reduce((total, it) => total + (read(it) ?? 0), 0)
      : null;
  return { now: sum(({ now }) => now), before: sum(({ before }) => before) };
}
