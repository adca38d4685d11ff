// What the measure picker offers for a typed text.

import type { Column } from "../../api/types";
import { FUNCTIONS, type Measure, measure, measureLabel, share } from "../../query/measure";
import { withoutAlias } from "../../query/sql";
import { findColumns } from "../columns/columns";

export interface MeasureOption {
  readonly measure: Measure;
  readonly label: string;
  /** Of one column; undefined for what counts rows. */
  readonly column?: Column;
}

/** Measures that need no column. */
export const COUNTS: readonly Measure[] = ["count(*)", "per_second(count(*))", "raw_count(*)"];

/** The measures of one function, over the columns that fit it and have a text in their name. */
export function measuresOf(fn: string, columns: readonly Column[], text: string): MeasureOption[] {
  const facts = FUNCTIONS.find(({ name }) => name === fn);
  const fitting = columns.filter((column) => facts?.fits(column) && !column.is_time);
  return findColumns(fitting, text).map((column) => optionOf(fn, column));
}

/** The measures that have all words of a text in their name: `p95 lat`, `bytes`, `events`. */
export function findMeasures(columns: readonly Column[], text: string, most: number) {
  const words = text.toLowerCase().split(/[\s(),]+/);
  const matching: MeasureOption[] = [];
  const fits = (name: string) => words.every((word) => name.includes(word));
  for (const count of COUNTS) {
    const label = measureLabel(count);
    if (fits(`${label} ${count}`.toLowerCase())) matching.push({ measure: count, label });
  }
  for (const column of columns) {
    if (column.is_time) continue;
    for (const fn of FUNCTIONS) {
      if (matching.length >= most) return matching;
      if (!fn.fits(column) || !fits(`${fn.name} ${fn.label} ${column.name}`.toLowerCase()))
        continue;
      matching.push(optionOf(fn.name, column));
    }
  }
  return matching;
}

function optionOf(fn: string, column: Column): MeasureOption {
  const text = measure(fn, column.name);
  return { measure: text, label: measureLabel(text), column };
}

const SHARE = /^\s*share(?:\s+(?:of\s+rows\s+)?where)?(?:\s+(.*))?$/is;

/** What the picker puts before a condition whose share is measured. */
export const SHARE_WHERE = "share where ";

/**
 * The share of rows that a text asks for: `share where status >= 500`, perhaps with `AS name`. The
 * condition is null while it is not written; the whole is null where the text asks for no share.
 */
export function typedShare(text: string): { measure: Measure | null } | null {
  const [whole, condition = ""] = SHARE.exec(text) ?? [];
  if (whole === undefined) return null;
  const bare = withoutAlias(condition);
  if (bare === "") return { measure: null };
  return { measure: share(bare) + condition.trim().slice(bare.length) };
}

/** Whether a text is meant as an aggregate of SQL rather than as words to find one. */
export const looksLikeSql = (text: string): boolean => /^\s*\w+\s*\(.*\)/s.test(text);
