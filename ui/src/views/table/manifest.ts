import { IconTable } from "@tabler/icons-react";
import type { ViewManifest } from "../../query/viewManifest";
import { tableSpec } from "./spec";
import { TableView } from "./TableView";

export const table: ViewManifest = {
  kind: "table",
  name: "Table",
  icon: IconTable,
  options: [],
  shows: ["groups", "measures", "comparison"],
  plan: (resolved) => ({ spec: tableSpec(resolved) }),
  component: TableView,
};
