import { defaultNumberColumn } from "../../explore/columnRanking";
import type { ResolvedQuery } from "../../query/spec";
import { columnOption, optionOf, textOption, type ViewOption } from "../../query/viewManifest";

/** The column that is shown; empty: the number column with most different values. */
export const COLUMN = columnOption("of", ["number"]);

/** `all`: all values, not only the middle 98 %. */
export const EXTENT = textOption("extent");
export const ALL = "all";

/** The axis; empty: logarithmic where the values have a long tail. */
export const AXIS: ViewOption<string> = {
  ...textOption("bins"),
  parse: (text) => (text === "linear" || text === "log" ? text : null),
  invalid: "is neither linear nor log; the values decide",
};

/** The column that a query shows; undefined if the table has no number column. */
export function columnOf({ query, columns }: ResolvedQuery): string | undefined {
  const name = optionOf(query, COLUMN);
  const named = columns.find((column) => column.name === name && column.type === "number");
  return (named ?? defaultNumberColumn(columns))?.name;
}
