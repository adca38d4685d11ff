import { IconChartTreemap } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { groupsSpec } from "../shared/groups";
import { groupRepairs, groupsProblem } from "../shared/repairs";

/** More tiles are too small to be seen; those beyond are one. */
const TILES_MOST = 300;

export const treemap: ViewManifest = {
  kind: "treemap",
  name: "Treemap",
  icon: IconChartTreemap,
  options: [],
  shows: ["groups", "comparison"],
  plan: (resolved) => {
    const { group } = resolved.query;
    const problem = groupsProblem(resolved);
    if (problem) return problem;
    if (group.length > 0) return { spec: groupsSpec(resolved, group, TILES_MOST) };
    return { misfit: "A treemap needs a column to group by.", repairs: groupRepairs(resolved) };
  },
  component: lazyPart(() => import("./TreemapView")),
};
