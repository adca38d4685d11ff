// The options of the SQL view.

import { textOption, type ViewOption } from "../../query/viewManifest";

/** The text of the query; empty: the page's query in SQL. */
export const SQL_TEXT = textOption("sql");

export const PICTURES = ["table", "line", "bar", "number"] as const;

/** How a result is drawn. */
export type Picture = (typeof PICTURES)[number];

/** How the result is drawn where it can be; empty: as its columns suggest. */
export const DRAWN: ViewOption<Picture | ""> = {
  key: "draw",
  default: "",
  parse: (text) => PICTURES.find((it) => it === text) ?? null,
  text: (value) => value,
  invalid: "is not table, line, bar or number",
};
