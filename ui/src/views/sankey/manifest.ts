import { IconChartSankey } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { groupsSpec } from "../shared/groups";
import { groupsProblem, stageRepair } from "../shared/repairs";

/** Groups beyond are left out, and the view says how much of the whole the others are. */
const FLOWS_MOST = 1000;

export const sankey: ViewManifest = {
  kind: "sankey",
  name: "Sankey",
  icon: IconChartSankey,
  options: [],
  shows: ["groups", "comparison"],
  plan: (resolved) => {
    const { group } = resolved.query;
    const problem = groupsProblem(resolved);
    if (problem) return problem;
    if (group.length > 1) return { spec: groupsSpec(resolved, group, FLOWS_MOST) };
    return {
      misfit: "A sankey needs two columns or more to group by: its stages.",
      repairs: stageRepair(resolved, 2),
    };
  },
  suggests: ({ query }) => query.group.length > 2,
  component: lazyPart(() => import("./SankeyView")),
};
