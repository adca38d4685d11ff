import { IconChartHistogram } from "@tabler/icons-react";
import type { ViewManifest } from "../../query/viewManifest";
import { withoutMisfit } from "../../query/viewManifest";
import { DistributionView } from "./DistributionView";
import { AXIS, COLUMN, columnOf, EXTENT } from "./options";
import { summarySpec } from "./spec";

export const distribution: ViewManifest = {
  kind: "distribution",
  name: "Distribution",
  icon: IconChartHistogram,
  options: [COLUMN, EXTENT, AXIS],
  shows: ["groups", "comparison"],
  plan: (resolved) => {
    const column = columnOf(resolved);
    return column
      ? { spec: summarySpec(resolved, column) }
      : { misfit: "This table has no number column." };
  },
  repair: (query, columns) =>
    withoutMisfit(query, COLUMN, columns, "is not a number column; another one is shown"),
  component: DistributionView,
};
