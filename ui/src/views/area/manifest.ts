import { IconChartAreaFilled } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { partsProblem } from "../shared/repairs";
import { timeSpec } from "../time/spec";
import { STACK } from "./options";

export const area: ViewManifest = {
  kind: "area",
  name: "Stacked area",
  icon: IconChartAreaFilled,
  options: [STACK],
  shows: ["groups", "measures", "comparison"],
  plan: (resolved) => partsProblem(resolved) ?? { spec: timeSpec(resolved) },
  component: lazyPart(() => import("./AreaView")),
};
