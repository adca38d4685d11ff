import { IconChartDots } from "@tabler/icons-react";
import { lazy } from "react";
import { type ViewManifest, withoutMisfit } from "../../query/viewManifest";
import { axesOf, X, Y } from "./options";
import { scatterSpec } from "./spec";

export const scatter: ViewManifest = {
  kind: "scatter",
  name: "Scatter",
  icon: IconChartDots,
  options: [X, Y],
  shows: ["comparison"],
  plan: (resolved) => {
    const axes = axesOf(resolved);
    return axes
      ? { spec: scatterSpec(resolved, axes) }
      : { misfit: "This table has fewer than two number columns." };
  },
  repair: (query, columns) => {
    const why = "is not a number column; another one is shown";
    const first = withoutMisfit(query, X, columns, why);
    const second = withoutMisfit(first.query, Y, columns, why);
    return { query: second.query, ignored: [...first.ignored, ...second.ignored] };
  },
  component: lazy(() => import("./ScatterView")),
};
