// Texts of SQL in the editor: laid out in lines, and the places that the server names in them.

import { QUOTED } from "../../query/sql";

/** A query in one line with each clause on a line of its own. Clauses are in upper case. */
export function laidOut(sql: string): string {
  let depth = 0;
  const line = (text: string) =>
    text.replace(/[()]|\s+(?=(?:FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT)\b)/g, (it) => {
      if (it === "(") depth++;
      else if (it === ")") depth--;
      else return depth === 0 ? "\n" : it;
      return it;
    });
  let made = "";
  let from = 0;
  for (const quoted of sql.matchAll(QUOTED)) {
    made += line(sql.slice(from, quoted.index)) + quoted[0];
    from = quoted.index + quoted[0].length;
  }
  return made + line(sql.slice(from));
}

/** The part of a text that an error is about: the word at a byte of it, at least one letter. */
export function placeOf(text: string, byte: number): { from: number; to: number } {
  const from = unitOf(text, byte);
  if (from >= text.length) return { from: Math.max(0, text.length - 1), to: text.length };
  const [word = ""] = /^(?:"(?:[^"]|"")*"|[\p{L}\p{N}_.]+)/u.exec(text.slice(from)) ?? [];
  return { from, to: from + Math.max(1, word.length) };
}

/** The place in a string of a byte of its UTF-8. */
function unitOf(text: string, byte: number): number {
  let at = 0;
  let bytes = 0;
  for (const letter of text) {
    if (bytes >= byte) break;
    const code = letter.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += letter.length;
  }
  return at;
}
