// The views, in the order in which they are shown; the keys 1 to 9 choose among them. A new view is
// a folder with a manifest, and a line here.

import type { ViewManifest } from "../query/viewManifest";
import { area } from "./area/manifest";
import { bar } from "./bar/manifest";
import { distribution } from "./distribution/manifest";
import { flame } from "./flame/manifest";
import { heat } from "./heat/manifest";
import { map } from "./map/manifest";
import { number } from "./number/manifest";
import { overview } from "./overview/manifest";
import { pie } from "./pie/manifest";
import { pivot } from "./pivot/manifest";
import { samples } from "./samples/manifest";
import { sankey } from "./sankey/manifest";
import { scatter } from "./scatter/manifest";
import { sql } from "./sql/manifest";
import { table } from "./table/manifest";
import { tail } from "./tail/manifest";
import { time } from "./time/manifest";
import { treemap } from "./treemap/manifest";
import { why } from "./why/manifest";

export const VIEWS: readonly ViewManifest[] = [
  overview,
  time,
  table,
  distribution,
  samples,
  area,
  heat,
  bar,
  pie,
  number,
  flame,
  treemap,
  pivot,
  sankey,
  map,
  scatter,
  tail,
  why,
  sql,
];
