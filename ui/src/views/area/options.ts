import { textOption } from "../../query/viewManifest";

/** `share`: each bucket is filled to the top, so that the shares of the series are seen. */
export const STACK = textOption("stack");
export const SHARE = "share";
