import { IconActivity } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { tailSpec } from "./spec";

export const tail: ViewManifest = {
  kind: "tail",
  name: "Live tail",
  icon: IconActivity,
  options: [],
  shows: [],
  plan: (resolved) => ({ spec: tailSpec(resolved) }),
  component: lazyPart(() => import("./TailView")),
};
