import { IconChartDonut } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { groupsSpec } from "../shared/groups";
import { groupRepairs, groupsProblem } from "../shared/repairs";

export const pie: ViewManifest = {
  kind: "pie",
  name: "Shares",
  icon: IconChartDonut,
  options: [],
  shows: ["groups", "comparison"],
  plan: (resolved) => {
    const { group, limit } = resolved.query;
    const problem = groupsProblem(resolved);
    if (problem) return problem;
    if (group.length > 0) return { spec: groupsSpec(resolved, group, limit) };
    return { misfit: "Shares need a column to group by.", repairs: groupRepairs(resolved) };
  },
  component: lazyPart(() => import("./PieView")),
};
