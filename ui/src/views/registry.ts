// The views, in the order in which they are shown; the keys 1 to 9 choose among them.

import {
  IconChartAreaLine,
  IconChartHistogram,
  IconLayoutDashboard,
  IconListDetails,
  IconTable,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import type { View } from "../query/query";
import { DistributionView } from "./distribution/DistributionView";
import { OverviewView } from "./overview/OverviewView";
import { SamplesView } from "./samples/SamplesView";
import { TableView } from "./table/TableView";
import { TimeView } from "./time/TimeView";

export interface ViewEntry {
  readonly view: View;
  readonly label: string;
  readonly icon: ComponentType<{ size?: number }>;
  readonly component: ComponentType;
}

export const VIEW_ENTRIES: readonly ViewEntry[] = [
  { view: "overview", label: "Overview", icon: IconLayoutDashboard, component: OverviewView },
  { view: "time", label: "Time series", icon: IconChartAreaLine, component: TimeView },
  { view: "table", label: "Table", icon: IconTable, component: TableView },
  {
    view: "distribution",
    label: "Distribution",
    icon: IconChartHistogram,
    component: DistributionView,
  },
  { view: "samples", label: "Samples", icon: IconListDetails, component: SamplesView },
];
