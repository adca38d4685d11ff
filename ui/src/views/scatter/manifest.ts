import { IconChartDots } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ResolvedQuery } from "../../query/spec";
import { groupLabel } from "../../query/sql";
import { type Repair, type ViewManifest, withoutMisfit } from "../../query/viewManifest";
import { sharesRows } from "../shared/groups";
import { axesOf, X, Y } from "./options";
import { scatterSpec } from "./spec";

const manyWords = (group: string) =>
  `A dot is a row, and ${groupLabel(group)} gives a row several colours.`;

/** Without the group that a row has several values of. */
function repairsOf({ query }: ResolvedQuery): Repair[] {
  const [, ...others] = query.group;
  const plain = others.filter((it) => !sharesRows([it]));
  const without = { ...query, group: plain };
  const [next] = plain;
  return [{ label: next ? `Colour by ${groupLabel(next)}` : "Without groups", query: without }];
}

export const scatter: ViewManifest = {
  kind: "scatter",
  name: "Scatter",
  icon: IconChartDots,
  options: [X, Y],
  shows: ["comparison"],
  plan: (resolved) => {
    const [first = ""] = resolved.query.group;
    if (sharesRows([first])) return { misfit: manyWords(first), repairs: repairsOf(resolved) };
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
  component: lazyPart(() => import("./ScatterView")),
};
