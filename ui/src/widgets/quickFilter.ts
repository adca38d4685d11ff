// Filters typed in one go: `status=500`, `latency>1000`, `service!=gateway,search`, `path~^/api`.

import type { Column } from "../api/types";
import { type Filter, OPERATORS, type Operator, operatorsFor } from "../query/filter";
import { columnOf } from "../query/sql";
import { findColumns } from "./columns";
import { finished, splitList } from "./filterDraft";

const FORM = /^\s*("(?:[^"]|"")+"|[^\s!=<>~]+)\s*(!=|<>|>=|<=|!~|=~|==|=|>|<|~)\s*(.*?)\s*$/s;
const SAME: Record<string, string> = { "==": "=", "<>": "!=", "=~": "~" };

/** The filter that a typed text means, on the one column it can mean; null if it is none. */
export function quickFilter(text: string, columns: readonly Column[], now: number): Filter | null {
  const [, name, sign, rest] = FORM.exec(text) ?? [];
  if (name === undefined || sign === undefined || rest === undefined || rest === "") return null;
  const column = columnFor(name, columns);
  const operator = column && operatorFor(SAME[sign] ?? sign, column);
  if (!column || !operator) return null;
  if (/^null$/i.test(rest) && (operator === "=" || operator === "!=")) {
    return { column: column.name, operator: operator === "=" ? "null" : "!null", values: [] };
  }
  const many = OPERATORS[operator].takes === "many";
  const draft = many
    ? { operator, values: splitList(rest), text: "" }
    : { operator, values: [], text: rest };
  return finished(draft, column, now);
}

/** The column of this name, or the only one whose name begins with it or else contains it. */
function columnFor(typed: string, columns: readonly Column[]): Column | null {
  const name = (typed.startsWith('"') ? columnOf(typed) : typed) ?? typed;
  const exact = columns.find((column) => column.name === name);
  if (exact) return exact;
  const lower = name.toLowerCase();
  const found = findColumns(columns, name);
  const [only, ...others] = found.filter((it) => it.name.toLowerCase().startsWith(lower));
  if (only) return others.length === 0 || only.name.toLowerCase() === lower ? only : null;
  return found.length === 1 ? (found[0] ?? null) : null;
}

function operatorFor(sign: string, column: Column): Operator | null {
  const fitting = operatorsFor(column.type);
  const list = column.type === "set" || column.type === "vector";
  const meant = list && sign === "=" ? "has" : list && sign === "!=" ? "!has" : sign;
  return fitting.find((it) => it === meant) ?? null;
}
