import { IconLayoutDashboard } from "@tabler/icons-react";
import type { ViewManifest } from "../../query/viewManifest";
import { timeSpec } from "../time/spec";
import { askFirst } from "./askFirst";
import { OverviewView } from "./OverviewView";
import { chartQuery } from "./spec";

export const overview: ViewManifest = {
  kind: "overview",
  name: "Overview",
  icon: IconLayoutDashboard,
  options: [],
  shows: ["comparison"],
  plan: (resolved) => ({ spec: timeSpec(chartQuery(resolved)) }),
  askFirst,
  component: OverviewView,
};
