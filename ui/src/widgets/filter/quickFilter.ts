// Filters typed in one go: `status=500`, `latency>1000`, `service!=gateway,search`, `path~^/api`,
// and as the URL or SQL writes them: `tags has a|b`, `message contains out of`, `user_id is null`.

import type { Column } from "../../api/types";
import {
  type Filter,
  OPERATORS,
  type Operator,
  operatorsFor,
  splitValues,
} from "../../query/filter";
import { columnOf } from "../../query/sql";
import { findColumns } from "../columns/columns";
import { finished, joined, severalOf, splitList } from "./filterDraft";

const FORM = /^\s*("(?:[^"]|"")+"|[^\s!=<>~]+)\s*(!=|<>|>=|<=|!~|=~|==|=|>|<|~)\s*(.*?)\s*$/s;
const SAME: Record<string, string> = { "==": "=", "<>": "!=", "=~": "~" };
const WORDS = /^\s*("(?:[^"]|"")+"|\S+)\s+(.+?)\s*$/s;
const NULLS = /^(=|is|!=|<>|!is|is not)\s*(null|missing|none)$/i;

/** The filter that a typed text means, on the one column it can mean; null if it is none. */
export function quickFilter(text: string, columns: readonly Column[], now: number): Filter | null {
  return inWords(text, columns, now) ?? inSigns(text, columns, now);
}

function inSigns(text: string, columns: readonly Column[], now: number): Filter | null {
  const [, name, sign, rest] = FORM.exec(text) ?? [];
  if (name === undefined || sign === undefined || rest === undefined || rest === "") return null;
  const column = columnFor(name, columns);
  const operator = column && operatorFor(SAME[sign] ?? sign, column);
  if (!column || !operator) return null;
  if (NULLS.test(`${sign} ${rest}`)) return missing(column, sign !== "!=" && sign !== "<>");
  return withValues(column, operator, rest, now);
}

/** As the URL and SQL say it: `tags has a|b`, `user_id is null`, `path starts /api`, `tags empty`. */
function inWords(text: string, columns: readonly Column[], now: number): Filter | null {
  const [, name = "", said = ""] = WORDS.exec(text) ?? [];
  const column = columnFor(name, columns);
  if (!column) return null;
  const [, how] = NULLS.exec(said) ?? [];
  if (how !== undefined) return missing(column, how === "=" || /^is$/i.test(how));
  const [, word = "", rest] = /^(is not|not \S+|\S+)(?:\s+(.*))?$/is.exec(said) ?? [];
  const plain = word
    .toLowerCase()
    .replace(/^is not$/, "!is")
    .replace(/^not /, "!");
  const list = LISTS.has(column.type);
  const wanted = !list && /^!?is$/.test(plain) ? plain.replace("is", "=") : plain;
  const operator = operatorsFor(column.type).find((it) => it === wanted && /[a-z=]/.test(it));
  if (!operator) return null;
  if (OPERATORS[operator].takes === "none") {
    return rest === undefined ? { column: column.name, operator, values: [] } : null;
  }
  return rest === undefined ? null : withValues(column, operator, rest, now);
}

const LISTS: ReadonlySet<string> = new Set(["set", "vector"]);

const missing = (column: Column, is: boolean): Filter => ({
  column: column.name,
  operator: is ? "null" : "!null",
  values: [],
});

/** Several values stand between commas, or between `|` as in the URL. */
function withValues(column: Column, operator: Operator, rest: string, now: number): Filter | null {
  if (!severalOf(operator)) return finished({ operator, values: [], text: rest }, column, now);
  const values = joined(operator, [], rest.includes("|") ? splitValues(rest) : splitList(rest));
  return finished({ operator, values, text: "" }, column, now);
}

/** The column of this name, or the only one whose name begins with it or else contains it. */
function columnFor(typed: string, columns: readonly Column[]): Column | null {
  const name = (typed.startsWith('"') ? columnOf(typed) : typed) ?? typed;
  const exact = columns.find((column) => column.name === name);
  if (exact) return exact;
  const lower = name.toLowerCase();
  const matching = findColumns(columns, name);
  const [only, ...others] = matching.filter((it) => it.name.toLowerCase().startsWith(lower));
  if (only) return others.length === 0 || only.name.toLowerCase() === lower ? only : null;
  return matching.length === 1 ? (matching[0] ?? null) : null;
}

function operatorFor(sign: string, column: Column): Operator | null {
  const fitting = operatorsFor(column.type);
  const list = column.type === "set" || column.type === "vector";
  const meant = list && sign === "=" ? "has" : list && sign === "!=" ? "!has" : sign;
  return fitting.find((it) => it === meant) ?? null;
}
