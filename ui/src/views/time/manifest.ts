import { IconChartAreaLine } from "@tabler/icons-react";
import type { ViewManifest } from "../../query/viewManifest";
import { MARKS, PANELS, SCALE } from "./options";
import { timeSpec } from "./spec";
import { TimeView } from "./TimeView";

export const time: ViewManifest = {
  kind: "time",
  name: "Time series",
  icon: IconChartAreaLine,
  options: [SCALE, PANELS, MARKS],
  shows: ["groups", "measures", "comparison"],
  plan: (resolved) => ({ spec: timeSpec(resolved) }),
  component: TimeView,
};
