// Which field of the query changed: many small changes of one field are one step of the history.

import type { Query } from "./query";
import { rangeOf } from "./time";

/** Fields that change letter by letter, or click by click. */
const GRADUAL = ["search", "where", "series", "limit"];
const TIME = ["bucket", "from", "to"];

/** The one gradual field by which two queries differ; null where it is none, or more than one. */
export function gradualField(before: Query, after: Query): string | null {
  const fields = Object.keys(before) as (keyof Query)[];
  const changed = fields.filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
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
