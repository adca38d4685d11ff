import { IconChartAreaLine } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { MARKS, PANELS, SCALE } from "./options";
import { timeSpec } from "./spec";

export const time: ViewManifest = {
  kind: "time",
  name: "Time series",
  icon: IconChartAreaLine,
  options: [SCALE, PANELS, MARKS],
  shows: ["groups", "measures", "comparison"],
  plan: (resolved) => ({ spec: timeSpec(resolved) }),
  component: lazyPart(() => import("./TimeView")),
};
