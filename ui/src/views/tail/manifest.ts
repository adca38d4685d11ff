import { IconActivity } from "@tabler/icons-react";
import { lazy } from "react";
import type { ViewManifest } from "../../query/viewManifest";
import { tailSpec } from "./spec";

export const tail: ViewManifest = {
  kind: "tail",
  name: "Live tail",
  icon: IconActivity,
  options: [],
  shows: [],
  plan: (resolved) => ({ spec: tailSpec(resolved) }),
  component: lazy(() => import("./TailView")),
};
