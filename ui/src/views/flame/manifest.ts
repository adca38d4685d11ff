import { IconFlame } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import { columnOf } from "../../query/sql";
import { type ViewManifest, withoutMisfit } from "../../query/viewManifest";
import { partsProblem } from "../shared/repairs";
import { PATH, pathOf } from "./options";
import { flameSpec } from "./spec";

export const flame: ViewManifest = {
  kind: "flame",
  name: "Flame graph",
  icon: IconFlame,
  options: [PATH],
  shows: ["comparison"],
  plan: (resolved) => {
    const column = pathOf(resolved);
    if (!column) return { misfit: "This table has no vector column, such as a stack." };
    return partsProblem(resolved) ?? { spec: flameSpec(resolved, column) };
  },
  suggests: (resolved) => {
    const { group, filters } = resolved.query;
    const column = pathOf(resolved);
    return (
      group.some((it) => columnOf(it) === column) || filters.some((it) => it.column === column)
    );
  },
  repair: (query, columns) =>
    withoutMisfit(query, PATH, columns, "is not a vector column; another one is shown"),
  component: lazyPart(() => import("./FlameView")),
};
