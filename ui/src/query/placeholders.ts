// Placeholders of SQL: `$from`, `$to` and the variables of a dashboard, filled with constants.

import { QUOTED, quoteText } from "./sql";
import { isoText, type Range } from "./time";

/** Names of placeholders that stand for the time range. */
export const RANGE_NAMES: readonly string[] = ["from", "to"];

const TOKEN = new RegExp(String.raw`${QUOTED.source}|\$([a-z_][a-z0-9_]*)`, "g");

/**
 * The text with other texts in the place of its placeholders. One stays where `textOf` has none for
 * its name, and in quotes and comments; the server names it in its error.
 */
export function replacePlaceholders(
  sql: string,
  textOf: (name: string) => string | undefined,
): string {
  return sql.replace(TOKEN, (text, name?: string) =>
    name === undefined ? text : (textOf(name) ?? text),
  );
}

/** The names of the placeholders in a text. */
export function placeholdersOf(sql: string): ReadonlySet<string> {
  const names = new Set<string>();
  replacePlaceholders(sql, (name) => {
    names.add(name);
    return undefined;
  });
  return names;
}

/** The text with the ends of a range, as constants, in the place of `$from` and `$to`. */
export function withRangeEnds(sql: string, { from, to }: Range): string {
  const ends = new Map([
    ["from", from],
    ["to", to],
  ]);
  return replacePlaceholders(sql, (name) => {
    const end = ends.get(name);
    return end === undefined ? undefined : `TIMESTAMP ${quoteText(isoText(end))}`;
  });
}

/** Values as a list of constants, such as `'a', 'b'`; undefined for none. */
export const constantsOf = (values: readonly string[]): string | undefined =>
  values.length === 0 ? undefined : values.map(quoteText).join(", ");
