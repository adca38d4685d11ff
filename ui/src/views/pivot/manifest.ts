import { IconTableColumn } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { groupsSpec } from "../shared/groups";
import { stageRepair } from "../shared/repairs";

/** Groups beyond are left out, and the view says so. */
const CELLS_MOST = 3000;

export const pivot: ViewManifest = {
  kind: "pivot",
  name: "Pivot",
  icon: IconTableColumn,
  options: [],
  shows: ["groups", "measures", "comparison"],
  plan: (resolved) => {
    const { group } = resolved.query;
    if (group.length > 1) return { spec: groupsSpec(resolved, group, CELLS_MOST) };
    return {
      misfit: "A pivot needs two columns or more to group by.",
      repairs: stageRepair(resolved, 2),
    };
  },
  suggests: ({ query }) => query.group.length === 2,
  component: lazyPart(() => import("./PivotView")),
};
