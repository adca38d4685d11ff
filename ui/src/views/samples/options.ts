import { columnOf, quoteName } from "../../query/sql";
import { textOption } from "../../query/viewManifest";

/** The columns that are shown, in this order, between commas; empty: the page chooses. */
export const FIELDS = textOption("fields");

/** The names of columns that a text of the address means. */
export function fieldNames(text: string): string[] {
  const parts = text.match(/"(?:[^"]|"")+"|[^,"\s]+/g) ?? [];
  return [...new Set(parts.flatMap((part) => columnOf(part) ?? []))];
}

/** The names of columns as a text of the address. */
export const fieldsText = (names: readonly string[]): string => names.map(quoteName).join(",");
