import { IconNumber123 } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { timeSpec } from "../time/spec";
import { numberQuery } from "./spec";

export const number: ViewManifest = {
  kind: "number",
  name: "Big number",
  icon: IconNumber123,
  options: [],
  shows: ["measures", "comparison"],
  plan: (resolved) => ({ spec: timeSpec(numberQuery(resolved)) }),
  component: lazyPart(() => import("./NumberView")),
};
