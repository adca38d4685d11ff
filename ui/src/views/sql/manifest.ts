import { IconCode } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import type { ViewManifest } from "../../query/viewManifest";
import { DRAWN, SQL_TEXT } from "./options";
import { seedSpec } from "./spec";

export const sql: ViewManifest = {
  kind: "sql",
  name: "SQL",
  icon: IconCode,
  options: [SQL_TEXT, DRAWN],
  shows: [],
  sqlOption: SQL_TEXT,
  apart: true,
  plan: (resolved) => ({ spec: seedSpec(resolved) }),
  component: lazyPart(() => import("./SqlView")),
};
