// Which knob of the query was turned: what is turned in many small steps is one step back.

import type { Query } from "./query";
import { rangeOf } from "./time";
import { urlOf } from "./url";

/** Turned by letters or clicks that follow each other. */
const GRADUAL = ["search", "where", "series", "limit"];
const TIME = ["bucket", "from", "to"];

/** The one gradual knob by which two queries differ; null where it is none, or more than one. */
export function gradualField(before: Query, after: Query): string | null {
  const [was, is] = [before, after].map((it) => new URLSearchParams(urlOf(it)));
  if (!was || !is) return null;
  const keys = new Set([...was.keys(), ...is.keys()]);
  const changed = [...keys].filter(
    (key) => was.getAll(key).join("\n") !== is.getAll(key).join("\n"),
  );
  const [only] = changed;
  if (only !== undefined && changed.length === 1 && GRADUAL.includes(only)) return only;
  const inTime = changed.length > 0 && changed.every((key) => TIME.includes(key));
  return inTime && lengthOf(before) === lengthOf(after) ? "time" : null;
}

/** How long the range is, be it relative or fixed; a step through time does not change it. */
function lengthOf(query: Query): number | null {
  const range = rangeOf(query, 0);
  return range && Math.round((range.to - range.from) / 1000);
}
