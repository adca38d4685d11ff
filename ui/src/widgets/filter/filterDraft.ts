// A filter while somebody types it: the typed text, its error, and the filter that it will be.

import type { Column, Type } from "../../api/types";
import { type Filter, OPERATORS, type Operator, operatorsFor } from "../../query/filter";
import { typedMoment } from "../time/timeWords";

/** Operators that take one value keep it in `text`; the others add `text` to `values`. */
export interface Draft {
  readonly operator: Operator;
  readonly values: readonly string[];
  readonly text: string;
  /** Whether the text only looks for values that are ticked, and is none itself. */
  readonly looksFor?: boolean;
}

/** What is filtered: a column, or what is left of one that the table no longer has. */
export type Target = Pick<Column, "name" | "type">;

const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/;

/** Whether an operator can have several values. */
export const severalOf = (operator: Operator): boolean =>
  OPERATORS[operator].takes === "many" || OPERATORS[operator].takes === "list";

/** An unwritten filter on a column, with the operator that is usual for its type. */
export function newDraft(type: Type): Draft {
  // Few ask for one exact time, many for what came after one.
  const usual = type === "time" ? ">=" : (operatorsFor(type)[0] ?? "!null");
  return { operator: usual, values: [], text: "" };
}

/** A filter to be changed. */
export function draftOf(filter: Filter): Draft {
  const { operator, values } = filter;
  if (OPERATORS[operator].takes !== "one") return { operator, values, text: "" };
  return { operator, values: [], text: values[0] ?? "" };
}

/** The draft with another operator; what was typed is kept as far as the operator takes it. */
export function withOperator(draft: Draft, operator: Operator): Draft {
  const from = OPERATORS[draft.operator].takes;
  const to = OPERATORS[operator].takes;
  if (to === "one" && from !== "one") {
    return { operator, values: [], text: draft.text || (draft.values[0] ?? "") };
  }
  if (to !== "none" && to !== "one" && from === "one") {
    return { operator, values: draft.text === "" ? [] : [draft.text], text: "" };
  }
  return { ...draft, operator };
}

/** Why a value cannot stand in a filter on this type; null if it can. */
export function valueProblem(value: string, type: Type, now: number): string | null {
  const shown = value.length > 30 ? `${value.slice(0, 29)}…` : value;
  if (type === "number" && !NUMBER.test(value.trim())) return `“${shown}” is not a number.`;
  if (type === "bool" && !/^(true|false)$/i.test(value.trim())) return "Write true or false.";
  if (type === "time" && typedMoment(value, now, "UTC") === null) {
    return `“${shown}” is not a time. Write 2026-11-21 03:51 (UTC), or -3h.`;
  }
  return null;
}

/** A value as the filter keeps it: times as fixed moments, since the server's filters know no others. */
export function normalValue(value: string, type: Type, now: number): string {
  if (type === "number") return value.trim();
  if (type === "bool") return value.trim().toLowerCase();
  if (type !== "time") return value;
  const at = typedMoment(value, now, "UTC");
  return at === null ? value : new Date(at).toISOString();
}

/** Values with others after them. Only those of a list may repeat. */
export function joined(
  operator: Operator,
  values: readonly string[],
  more: readonly string[],
): string[] {
  const all = [...values, ...more];
  return OPERATORS[operator].takes === "list" ? all : [...new Set(all)];
}

/** The values of a pasted or typed list: one a line, or between commas; `"a, b"` is one. */
export function splitList(text: string): string[] {
  const pattern = text.trim().includes("\n") ? /[^\r\n]+/g : /"(?:[^"]|"")*"|[^,\t"][^,\t]*/g;
  const parts = (text.match(pattern) ?? []).map((it) => unquoted(it.trim()));
  return parts.filter((it) => it !== "");
}

function unquoted(text: string): string {
  const [, inside] = /^"((?:[^"]|"")*)"$/s.exec(text) ?? [];
  return inside === undefined ? text : inside.replaceAll('""', '"');
}

/** The draft with a value ticked, or no longer; what was typed goes on looking for further ones. */
export function ticked(draft: Draft, value: string): Draft {
  const has = draft.values.includes(value) && OPERATORS[draft.operator].takes === "many";
  const values = has ? draft.values.filter((it) => it !== value) : [...draft.values, value];
  return { ...draft, values, looksFor: true };
}

/** All values that a draft has, those in the input included. */
function valuesOf(draft: Draft): string[] {
  const takes = OPERATORS[draft.operator].takes;
  if (takes === "none") return [];
  if (takes === "one") return draft.text === "" ? [] : [draft.text];
  const typed = draft.looksFor ? "" : draft.text.trim();
  return typed === "" ? [...draft.values] : joined(draft.operator, draft.values, [typed]);
}

/** What is wrong with a draft; null if nothing is, or nothing was written yet. */
export function draftProblem(draft: Draft, type: Type, now: number): string | null {
  for (const value of valuesOf(draft)) {
    const problem = valueProblem(value, type, now);
    if (problem) return problem;
  }
  return null;
}

/** The filter that a draft means; null while values are missing or wrong. */
export function finished(draft: Draft, column: Target, now: number): Filter | null {
  const { operator } = draft;
  const values = valuesOf(draft);
  if (values.length === 0 && OPERATORS[operator].takes !== "none") return null;
  if (draftProblem(draft, column.type, now)) return null;
  const normal = values.map((value) => normalValue(value, column.type, now));
  return { column: column.name, operator, values: normal };
}

/** Whether the values of an operator are whole values of the column, which can be listed. */
export function completes(operator: Operator, type: Type): boolean {
  const isPart = type === "string" && (operator === "starts" || operator === "ends");
  return type !== "time" && severalOf(operator) && !isPart;
}
