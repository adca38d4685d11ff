import { IconWorld } from "@tabler/icons-react";
import { lazyPart } from "../../base/part";
import { columnOf } from "../../query/sql";
import { optionOf, type ViewManifest, withOption, withoutMisfit } from "../../query/viewManifest";
import { groupsSpec } from "../shared/groups";
import { COUNTRY, whereOf } from "./options";

const PLACES_MOST = 1000;
const OFFERED = 3;

export const map: ViewManifest = {
  kind: "map",
  name: "World map",
  icon: IconWorld,
  options: [COUNTRY],
  shows: ["comparison"],
  plan: (resolved) => {
    const where = whereOf(resolved);
    if (where) return { spec: groupsSpec(resolved, where.group, PLACES_MOST) };
    const texts = resolved.columns.filter(({ type }) => type === "string").slice(0, OFFERED);
    return {
      misfit: "No column is called a country, or latitude and longitude.",
      repairs: texts.map(({ name }) => ({
        label: `Countries are in ${name}`,
        query: withOption(resolved.query, COUNTRY, name),
      })),
    };
  },
  suggests: (resolved) => {
    const country = whereOf(resolved)?.country;
    const named = optionOf(resolved.query, COUNTRY) !== "";
    return named || resolved.query.group.some((it) => columnOf(it) === country);
  },
  repair: (query, columns) => withoutMisfit(query, COUNTRY, columns, "is not a text column"),
  component: lazyPart(() => import("./MapView")),
};
