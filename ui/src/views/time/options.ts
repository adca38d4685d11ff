import { textOption } from "../../query/viewManifest";

/** `log`: values are drawn by their logarithms. */
export const SCALE = textOption("scale");
export const LOG = "log";

/** `each`: a small chart for each series. */
export const PANELS = textOption("panels");
export const EACH = "each";

/** A table whose rows are marks in time, perhaps with a space and the column that names them. */
export const MARKS = textOption("marks");
