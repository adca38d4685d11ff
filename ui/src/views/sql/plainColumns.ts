// Which columns of a result are columns of a table as they are: their values can be filtered by.

/** Strings and quoted names, comments, words, and any other sign. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|[\p{L}_][\p{L}\p{N}_]*|\S/gu;

/** After the table's name, if the statement has one table. */
const CLAUSES = ["WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", ";"];
const SEVERAL = ["UNION", "INTERSECT", "EXCEPT"];

/**
 * The column of `table` that each of `names`, the columns of a result, shows; null where it shows
 * something else, or where the text does not say so plainly.
 */
export function plainColumns(
  sql: string,
  table: string,
  names: readonly string[],
  isColumn: (name: string) => boolean,
): (string | null)[] {
  const items = itemsOf(sql, table);
  const [first] = items ?? [];
  if (items?.length === 1 && first?.length === 1 && first[0] === "*") {
    return names.map((name) => (isColumn(name) ? name : null));
  }
  if (items?.length !== names.length) return names.map(() => null);
  return items.map((item) => {
    const name = nameOf(item);
    return name !== null && isColumn(name) ? name : null;
  });
}

/** The tokens of each item of a SELECT from one table; null for any other statement. */
function itemsOf(sql: string, table: string): string[][] | null {
  const tokens = [...sql.matchAll(TOKEN)]
    .map(([token]) => token)
    .filter((token) => !token.startsWith("--") && !token.startsWith("/*"));
  const word = (at: number) => tokens[at]?.toUpperCase() ?? "";
  if (word(0) !== "SELECT") return null;
  const items: string[][] = [[]];
  let depth = 0;
  let at = word(1) === "DISTINCT" ? 2 : 1;
  for (; at < tokens.length; at++) {
    const token = tokens[at] ?? "";
    if (depth === 0 && word(at) === "FROM") break;
    if (token === "(" || token === "[") depth++;
    else if (token === ")" || token === "]") depth--;
    if (depth === 0 && token === ",") items.push([]);
    else items.at(-1)?.push(token);
  }
  const isPlain =
    unquoted(tokens[at + 1] ?? "") === table &&
    (tokens[at + 2] === undefined || CLAUSES.includes(word(at + 2))) &&
    !tokens.slice(at).some((token) => SEVERAL.includes(token.toUpperCase()));
  return isPlain ? items : null;
}

/** The name that an item is, whatever it is called in the result; null for an expression. */
function nameOf(item: readonly string[]): string | null {
  const [name = "", as, alias, more] = item;
  if (
    as !== undefined &&
    (as.toUpperCase() !== "AS" || alias === undefined || more !== undefined)
  ) {
    return null;
  }
  return unquoted(name);
}

const unquoted = (name: string): string =>
  name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
