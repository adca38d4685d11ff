// Derived columns as text of the address: `seconds = latency_us / 1000000`.

import type { Definition } from "../api/types";
import type { Query } from "./query";
import { columnOf, quoteName } from "./sql";

export type { Definition };

/** A definition as text; its name is quoted as in a filter. */
export const definitionText = ({ name, sql }: Definition): string => `${quoteName(name)} = ${sql}`;

/** The definition of a text; null if it is none. */
export function parseDefinition(text: string): Definition | null {
  const [, name = "", sql = ""] =
    /^("(?:[^"]|"")+"|[a-z_]\w*)\s*=\s*(\S[\s\S]*)$/i.exec(text) ?? [];
  const column = columnOf(name);
  return column === null || sql.trim() === "" ? null : { name: column, sql };
}

/** With a definition, in the place of one of the same name. */
export function withDefinition(query: Query, definition: Definition): Query {
  const has = query.define.some(({ name }) => name === definition.name);
  const define = has
    ? query.define.map((it) => (it.name === definition.name ? definition : it))
    : [...query.define, definition];
  return { ...query, define };
}

/** With another name for a definition, where it had one; groups and filters keep it. */
export function renamed(query: Query, before: string, name: string): Query {
  if (before === "" || before === name) return query;
  return {
    ...query,
    define: query.define.map((it) => (it.name === before ? { ...it, name } : it)),
    group: query.group.map((it) => (columnOf(it) === before ? quoteName(name) : it)),
    filters: query.filters.map((it) => (it.column === before ? { ...it, column: name } : it)),
  };
}

/** Without a definition, and without groups by it and filters on it. */
export function withoutDefinition(query: Query, name: string): Query {
  return {
    ...query,
    define: query.define.filter((it) => it.name !== name),
    group: query.group.filter((it) => columnOf(it) !== name),
    filters: query.filters.filter(({ column }) => column !== name),
  };
}
