// Texts of SQL: names and constants quoted so that event data, which is hostile, stays data.

/** A name as SQL takes it exactly. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

/** A string, a quoted name or a comment: parts of a text that are left as they are. */
export const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g;

/** A string constant. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

// What cannot stand bare as the name of a column in an expression.
const RESERVED = new Set(
  (
    "all and any array as asc between both by case cast count current_timestamp date desc distinct " +
    "else end escape except exists extract false filter from full group having ilike in inner " +
    "intersect interval into is join left like limit natural not null nulls offset on or order " +
    "outer over overlay position right select series similar some substring table then time " +
    "timestamp trim true union unnest using values when where window with within"
  ).split(" "),
);

/** An expression without the name that it is given: `length(a) AS n` is `length(a)`. */
export function withoutAlias(text: string): string {
  return text.trim().replace(/\s+as\s+("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)$/i, "");
}

/** The column that a bare or quoted name means; null for any other expression. */
export function columnOf(expression: string): string | null {
  const text = expression.trim();
  if (/^[A-Za-z_][A-Za-z0-9_.]*$/.test(text)) return text;
  const [, quoted] = /^"((?:[^"]|"")+)"$/.exec(text) ?? [];
  return quoted === undefined ? null : quoted.replaceAll('""', '"');
}

/** The alias of an expression; null if it has none. */
export function aliasOf(text: string): string | null {
  const [, name] = /\s+as\s+("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)$/i.exec(text.trim()) ?? [];
  return name === undefined ? null : columnOf(name);
}

/** A group in words: the name of its column, its alias, or the expression. */
export const groupLabel = (text: string): string => aliasOf(text) ?? columnOf(text) ?? text.trim();
