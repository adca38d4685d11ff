import { IconZoomQuestion } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import { PREVIOUS } from "../../query/query";
import { SELECTED } from "../../query/selection";
import type { ViewManifest } from "../../query/viewManifest";
import { selectionSpec, sidesOf } from "./spec";

export const why: ViewManifest = {
  kind: "why",
  name: "Why?",
  icon: IconZoomQuestion,
  options: [SELECTED],
  shows: ["comparison"],
  plan: (resolved) => {
    if (sidesOf(resolved)) return { spec: selectionSpec(resolved) };
    const compared = { ...resolved.query, compare: PREVIOUS };
    return {
      misfit:
        "Why? compares: select rows in a chart, filter to the rows in question, or compare with an earlier time.",
      repairs: [{ label: "Compare with previous period", query: compared }],
    };
  },
  component: lazyPart(() => import("./WhyView")),
};
