import { IconChartDonut } from "@tabler/icons-react";
import { lazy } from "react";
import type { ViewManifest } from "../../query/viewManifest";
import { groupsSpec, sharesRows } from "../shared/groups";
import { groupRepairs, partsProblem } from "../shared/repairs";

export const pie: ViewManifest = {
  kind: "pie",
  name: "Shares",
  icon: IconChartDonut,
  options: [],
  shows: ["groups", "comparison"],
  plan: (resolved) => {
    const { group, limit } = resolved.query;
    const problem = partsProblem(resolved);
    if (problem) return problem;
    if (sharesRows(group)) {
      return {
        misfit: "A row can be in several of these groups, so they are no parts of a whole.",
      };
    }
    if (group.length > 0) return { spec: groupsSpec(resolved, group, limit) };
    return { misfit: "Shares need a column to group by.", repairs: groupRepairs(resolved) };
  },
  component: lazy(() => import("./PieView")),
};
