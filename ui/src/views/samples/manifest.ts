import { IconListDetails } from "@tabler/icons-react";
import type { ViewManifest } from "../../query/viewManifest";
import { FIELDS } from "./options";
import { SamplesView } from "./SamplesView";
import { samplesSpec } from "./spec";

export const samples: ViewManifest = {
  kind: "samples",
  name: "Samples",
  icon: IconListDetails,
  options: [FIELDS],
  shows: [],
  plan: (resolved) => ({ spec: samplesSpec(resolved) }),
  component: SamplesView,
};
