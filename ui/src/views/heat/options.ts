import { textOption } from "../../query/viewManifest";

/** `log` or `linear`: how the values of a heat map are cut into rows; empty: as it suits them. */
export const SCALE = textOption("rows");
