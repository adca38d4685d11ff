// What the editor completes: tables, columns of the table in the text, functions, key words.

import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from "@codemirror/autocomplete";
import { SQLDialect } from "@codemirror/lang-sql";
import { quoteName } from "../../query/sql";
import { AGGREGATES, KEYWORDS, SCALARS } from "./words";

/** The names that a text can use. */
export interface Names {
  readonly tables: readonly string[];
  /** The columns of a table with their types; empty for a table that does not exist. */
  readonly columnsOf: (table: string) => Promise<readonly { name: string; type: string }[]>;
  /** The table whose columns are offered until the text names one. */
  readonly table: string;
}

/** Only its parser and its colours are used: words are completed here. */
export const { language } = SQLDialect.define({
  keywords: KEYWORDS.join(" ").toLowerCase(),
  builtin: [...AGGREGATES, ...SCALARS].join(" "),
  types: "text number timestamp boolean",
  charSetCasts: false,
  operatorChars: "*+-%<>!=~|&/:",
  // Placeholders, such as $from.
  specialVar: "$",
});

/** The table after FROM, or the one given. */
export function tableIn(text: string, or: string): string {
  const [, quoted, bare] = /\bfrom\s+(?:"((?:[^"]|"")+)"|([\w.]+))/i.exec(text) ?? [];
  return quoted?.replaceAll('""', '"') ?? bare ?? or;
}

const functionOf = (detail: string) => (name: string) =>
  ({ label: name, apply: `${name}(`, type: "function", detail }) satisfies Completion;

const WORDS: readonly Completion[] = [
  ...KEYWORDS.map((label) => ({ label, type: "keyword" })),
  ...AGGREGATES.map(functionOf("aggregate")),
  ...SCALARS.map(functionOf("function")),
];

/** Completes what stands before the cursor; after FROM, only tables. */
export function namesSource(names: () => Names): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/"(?:[^"]|"")*|[\w.]+/);
    if (!word && !context.explicit) return null;
    if (/^\d/.test(word?.text ?? "")) return null;
    const from = word?.from ?? context.pos;
    const before = context.state.sliceDoc(0, from);
    const { tables, columnsOf, table } = names();
    const tableOptions = tables.map(
      (label): Completion => ({ label, apply: quoteName(label), type: "class", detail: "table" }),
    );
    if (/\b(from|describe|desc|summarize)\s+$/i.test(before)) {
      return { from, options: tableOptions, filter: true };
    }
    const columns = await columnsOf(tableIn(context.state.doc.toString(), table)).catch(() => []);
    const columnOptions = columns.map(
      ({ name, type }): Completion => ({
        label: name,
        apply: quoteName(name),
        type: "property",
        detail: type,
        boost: 50,
      }),
    );
    return { from, options: [...columnOptions, ...WORDS, ...tableOptions], filter: true };
  };
}
