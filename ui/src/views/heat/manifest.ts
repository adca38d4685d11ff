import { IconGridDots } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import { type ViewManifest, withoutMisfit } from "../../query/viewManifest";
import { COLUMN, columnOf } from "../distribution/options";
import { SCALE } from "./options";
import { endsSpec } from "./spec";

export const heat: ViewManifest = {
  kind: "heat",
  name: "Heat map",
  icon: IconGridDots,
  options: [COLUMN, SCALE],
  shows: ["comparison"],
  plan: (resolved) => {
    const column = columnOf(resolved);
    return column
      ? { spec: endsSpec(resolved, column) }
      : { misfit: "This table has no number column." };
  },
  repair: (query, columns) =>
    withoutMisfit(query, COLUMN, columns, "is not a number column; another one is shown"),
  component: lazyPart(() => import("./HeatView")),
};
