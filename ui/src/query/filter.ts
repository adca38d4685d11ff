// Filters: one condition on one column, drawn as a chip, written as SQL and as a text of the URL.

import type { Cell, Column, Type } from "../api/types";
import { columnOf, quoteName, quoteText } from "./sql";

/** How a filter compares. `has` and its kin are for sets and vectors. */
export type Operator =
  | "="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "contains"
  | "!contains"
  | "~"
  | "!~"
  | "has"
  | "has-all"
  | "!has"
  | "is"
  | "!is"
  | "starts"
  | "ends"
  | "within"
  | "null"
  | "!null"
  | "empty"
  | "!empty";

/** One condition. Several values of `=` mean any of them, those of `is` all; `null` has none. */
export interface Filter {
  readonly column: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

interface OperatorFacts {
  label: string;
  /** How many values it takes. Those of a list keep their order and may repeat, or be none. */
  takes: "none" | "one" | "many" | "list";
  types: readonly Type[];
  opposite: Operator | null;
}

const SCALARS: readonly Type[] = ["string", "number", "bool", "time"];
const ORDERED: readonly Type[] = ["number", "time"];
const LISTS: readonly Type[] = ["set", "vector"];
const VECTOR: readonly Type[] = ["vector"];
const EVERY: readonly Type[] = [...SCALARS, ...LISTS];

export const OPERATORS: Readonly<Record<Operator, OperatorFacts>> = {
  "=": { label: "is", takes: "many", types: SCALARS, opposite: "!=" },
  "!=": { label: "is not", takes: "many", types: SCALARS, opposite: "=" },
  ">": { label: ">", takes: "one", types: ORDERED, opposite: "<=" },
  ">=": { label: ">=", takes: "one", types: ORDERED, opposite: "<" },
  "<": { label: "<", takes: "one", types: ORDERED, opposite: ">=" },
  "<=": { label: "<=", takes: "one", types: ORDERED, opposite: ">" },
  contains: { label: "contains", takes: "one", types: ["string"], opposite: "!contains" },
  "!contains": { label: "does not contain", takes: "one", types: ["string"], opposite: "contains" },
  "~": { label: "matches regex", takes: "one", types: ["string"], opposite: "!~" },
  "!~": { label: "does not match regex", takes: "one", types: ["string"], opposite: "~" },
  has: { label: "has any of", takes: "many", types: LISTS, opposite: "!has" },
  "has-all": { label: "has all of", takes: "many", types: LISTS, opposite: null },
  "!has": { label: "has none of", takes: "many", types: LISTS, opposite: "has" },
  is: { label: "is exactly", takes: "list", types: LISTS, opposite: "!is" },
  "!is": { label: "is not exactly", takes: "list", types: LISTS, opposite: "is" },
  starts: { label: "starts with", takes: "many", types: ["string", ...VECTOR], opposite: null },
  ends: { label: "ends with", takes: "many", types: ["string", ...VECTOR], opposite: null },
  within: { label: "has in a row", takes: "many", types: VECTOR, opposite: null },
  empty: { label: "is empty", takes: "none", types: LISTS, opposite: "!empty" },
  "!empty": { label: "is not empty", takes: "none", types: LISTS, opposite: "empty" },
  null: { label: "is null", takes: "none", types: EVERY, opposite: "!null" },
  "!null": { label: "exists", takes: "none", types: EVERY, opposite: "null" },
};

/** The operators that a column of this type can have, the usual one first. */
export function operatorsFor(type: Type): Operator[] {
  return (Object.keys(OPERATORS) as Operator[]).filter((it) => OPERATORS[it].types.includes(type));
}

/** The condition as SQL. The spelling of values depends on the column's type. */
export function filterSql(filter: Filter, type: Type | undefined): string {
  return conditionSql(quoteName(filter.column), filter, type);
}

/** The condition on an expression of SQL. */
export function conditionSql(
  name: string,
  filter: Pick<Filter, "operator" | "values">,
  type: Type | undefined,
): string {
  const value = (text: string) => constant(text, type);
  const values = filter.values.map(value);
  const [first = "''"] = values;
  const list = values.join(", ");
  switch (filter.operator) {
    case "=":
      return values.length === 1 ? `${name} = ${first}` : `${name} IN (${list})`;
    case "!=":
      // A row without the column is not the value either; SQL's <> would drop it.
      return `(${name} IS NULL OR ${name} NOT IN (${list}))`;
    case "contains":
      return `${name} ILIKE ${likeText(filter.values[0] ?? "")}`;
    case "!contains":
      return `(${name} IS NULL OR ${name} NOT ILIKE ${likeText(filter.values[0] ?? "")})`;
    case "~":
      return `${name} ~ ${quoteText(filter.values[0] ?? "")}`;
    case "!~":
      return `(${name} IS NULL OR ${name} !~ ${quoteText(filter.values[0] ?? "")})`;
    case "null":
      return `${name} IS NULL`;
    case "!null":
      return `${name} IS NOT NULL`;
    case "empty":
      return `is_empty(${name})`;
    case "!empty":
      return `(${name} IS NULL OR NOT is_empty(${name}))`;
    case "is":
      return exactlySql(name, filter.values, type);
    case "!is":
      return `(${name} IS NULL OR NOT ${exactlySql(name, filter.values, type)})`;
    case "!has":
      return `(${name} IS NULL OR includes_none(${name}, ${list}))`;
    case "starts":
    case "ends":
      if (type === "string") return endsSql(name, filter);
      return `${LIST_FUNCTIONS[filter.operator]}(${name}, ${list})`;
    case "has":
    case "has-all":
    case "within":
      return `${LIST_FUNCTIONS[filter.operator]}(${name}, ${list})`;
    default:
      return `${name} ${filter.operator} ${first}`;
  }
}

/** Whether a text starts or ends with one of some texts, ignoring case as `contains` does. */
function endsSql(name: string, { operator, values }: Pick<Filter, "operator" | "values">): string {
  const parts = values.map((value) => {
    const [, inner = ""] = /^'%(.*)%'$/s.exec(likeText(value)) ?? [];
    return `${name} ILIKE ${operator === "starts" ? `'${inner}%'` : `'%${inner}'`}`;
  });
  return parts.length === 1 ? (parts[0] ?? "") : `(${parts.join(" OR ")})`;
}

/** Whether a list has these elements and no others: those of a set in any order. */
function exactlySql(name: string, elements: readonly string[], type: Type | undefined): string {
  if (elements.length === 0) return `is_empty(${name})`;
  const vector = type === "vector";
  const distinctElements = vector ? elements : [...new Set(elements)];
  const has = `includes_${vector ? "start" : "all"}(${name}, ${distinctElements.map(quoteText).join(", ")})`;
  return `(${has} AND cardinality(${name}) = ${distinctElements.length})`;
}

const LIST_FUNCTIONS = {
  has: "includes_any",
  "has-all": "includes_all",
  starts: "includes_start",
  ends: "includes_end",
  within: "includes_within",
} as const;

const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/;

function constant(text: string, type: Type | undefined): string {
  if (type === "number" && NUMBER.test(text)) return text;
  if (type === "bool" && (text === "true" || text === "false")) return text;
  return quoteText(text);
}

function likeText(text: string): string {
  return quoteText(`%${text.replace(/[\\%_]/g, "\\$&")}%`);
}

/**
 * The filter that a value asks for, or the one for all others: null is missing, a list is exactly
 * this one, a text on a list is an element of it.
 */
export function filterOf(column: string, value: Cell, type: Type, opposite = false): Filter {
  const filter = (operator: Operator, other: Operator, values: readonly string[]) => ({
    column,
    operator: opposite ? other : operator,
    values,
  });
  if (value === null) return filter("null", "!null", []);
  if (Array.isArray(value)) {
    if (value.length === 0) return filter("empty", "!empty", []);
    return filter("is", "!is", value.map(String));
  }
  if (type === "set" || type === "vector") return filter("has", "!has", [String(value)]);
  return filter("=", "!=", [String(value)]);
}

/** The same filter the other way round; itself where there is no opposite. */
export function inverted(filter: Filter): Filter {
  const operator = OPERATORS[filter.operator].opposite;
  return operator ? { ...filter, operator } : filter;
}

/** The values as people read them. */
export function valueWords({ operator, values }: Filter): string[] {
  if (OPERATORS[operator].takes === "list" && values.length === 0) return ["(empty)"];
  return values.map((value) => (value === "" ? "“”" : value));
}

/** A filter in words, as its chip says it. */
export function filterLabel(filter: Filter): string {
  return `${filter.column} ${OPERATORS[filter.operator].label} ${valueWords(filter).join(", ")}`.trim();
}

/** The type of a column by its name. */
export function typeOf(columns: readonly Column[], name: string): Type | undefined {
  return columns.find((column) => column.name === name)?.type;
}

// In the URL: `service = gateway|search`, `"odd name" !null`. `|` and `\` in values get a `\`.

/** The filter as a text of the URL. */
export function filterText(filter: Filter): string {
  const head = `${quoteName(filter.column)} ${filter.operator}`;
  const { takes } = OPERATORS[filter.operator];
  // `is` without a space after it is the list of none, with one that of an empty text.
  if (takes === "none" || (takes === "list" && filter.values.length === 0)) return head;
  return `${head} ${filter.values.map((value) => value.replace(/[\\|]/g, "\\$&")).join("|")}`;
}

/** The filter that a text of the URL means; null if it is none. */
export function parseFilter(text: string): Filter | null {
  const [, name, operator, rest] = /^("(?:[^"]|"")+"|\S+) (\S+)(?: (.*))?$/s.exec(text) ?? [];
  const column = name === undefined ? null : columnOf(name);
  if (column === null || operator === undefined || !Object.hasOwn(OPERATORS, operator)) return null;
  const known = operator as Operator;
  const { takes } = OPERATORS[known];
  if (takes === "none" || (takes === "list" && rest === undefined)) {
    return { column, operator: known, values: [] };
  }
  return { column, operator: known, values: splitValues(rest ?? "") };
}

/** The values between `|` of a text of the URL. */
export function splitValues(text: string): string[] {
  const values = [""];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "|") values.push("");
    else values.push(values.pop() + (text[i] === "\\" ? (text[++i] ?? "") : text.charAt(i)));
  }
  return values;
}
