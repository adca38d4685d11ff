import { IconChartBar } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { groupsSpec } from "../shared/groups";
import { groupRepairs } from "../shared/repairs";

export const bar: ViewManifest = {
  kind: "bar",
  name: "Bars",
  icon: IconChartBar,
  options: [],
  shows: ["groups", "measures", "comparison"],
  plan: (resolved) => {
    const { group, limit } = resolved.query;
    if (group.length > 0) return { spec: groupsSpec(resolved, group, limit) };
    return { misfit: "Bars need a column to group by.", repairs: groupRepairs(resolved) };
  },
  component: lazyPart(() => import("./BarView")),
};
