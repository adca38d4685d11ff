// Derived columns: names for expressions of SQL. The server does not know them: each name is
// replaced by its expression in what is sent, and the answer has the names again.

import type { Definition, QuerySpec } from "./types";

/** A string, a quoted name, a comment, a name with what is before and after it; all else is kept. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(?:::|\.)\s*[A-Za-z_]\w*|\bas\s+(?:"(?:[^"]|"")*"|[A-Za-z_]\w*)|[A-Za-z_][\w.]*(?:\s*\()?/gi;

/** Text of SQL with each defined name replaced by its expression. */
export function expanded(sql: string, definitions: readonly Definition[]): string {
  if (definitions.length === 0) return sql;
  const expressions = new Map<string, string>();
  const replaced = (text: string) =>
    text.replace(TOKEN, (token) => {
      const quoted = /^"((?:[^"]|"")*)"$/.exec(token)?.[1];
      return expressions.get(quoted === undefined ? token : quoted.replaceAll('""', '"')) ?? token;
    });
  for (const definition of definitions) {
    const text = replaced(definition.sql.trim());
    // A comment ends with its line.
    expressions.set(definition.name, text.includes("--") ? `(${text}\n)` : `(${text})`);
  }
  return replaced(sql);
}

const ALIAS = /^([\s\S]*?)(\s+as\s+(?:"(?:[^"]|"")+"|[a-z_]\w*))$/i;
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** An item of a query, which is called in the answer what it is called without definitions. */
function item(text: string, definitions: readonly Definition[]): string {
  const [, head, alias] = ALIAS.exec(text.trim()) ?? [];
  if (head !== undefined) return `${expanded(head, definitions)}${alias}`;
  const made = expanded(text, definitions);
  if (made === text) return text;
  const name = /^"((?:[^"]|"")+)"$/.exec(text.trim())?.[1]?.replaceAll('""', '"');
  return `${made} AS ${quoted(name ?? text.trim())}`;
}

/** The query as the server takes it. All columns of raw rows include the derived ones. */
export function withoutDefinitions({ define, ...spec }: QuerySpec): QuerySpec {
  if (!define || define.length === 0) return spec;
  const items = (list: readonly string[]) => list.map((it) => item(it, define));
  const raw = !spec.aggregates && !spec.group_by && !spec.bucket;
  const columns = spec.columns ?? (raw ? ["*", ...define.map(({ name }) => quoted(name))] : null);
  return {
    ...spec,
    ...(spec.filter ? { filter: spec.filter.map((it) => expanded(it, define)) } : {}),
    ...(spec.group_by ? { group_by: items(spec.group_by) } : {}),
    ...(spec.aggregates ? { aggregates: items(spec.aggregates) } : {}),
    ...(columns ? { columns: items(columns) } : {}),
    ...(spec.order_by ? { order_by: spec.order_by.map((it) => expanded(it, define)) } : {}),
  };
}
