// Which knob of the question was turned: what is turned in many small steps is one step back.

import type { Question } from "./query";
import { rangeOf } from "./time";
import { urlOf } from "./url";

/** Turned by letters or clicks that follow each other. */
const GRADUAL = ["search", "where", "series", "limit"];
const TIME = ["bucket", "from", "to"];

/** The one gradual knob by which two questions differ; null where it is none, or more than one. */
export function gradualKnob(before: Question, after: Question): string | null {
  const [was, is] = [before, after].map((it) => new URLSearchParams(urlOf(it)));
  if (!was || !is) return null;
  const keys = new Set([...was.keys(), ...is.keys()]);
  const turned = [...keys].filter(
    (key) => was.getAll(key).join("\n") !== is.getAll(key).join("\n"),
  );
  const [only] = turned;
  if (only !== undefined && turned.length === 1 && GRADUAL.includes(only)) return only;
  const inTime = turned.length > 0 && turned.every((key) => TIME.includes(key));
  return inTime && lengthOf(before) === lengthOf(after) ? "time" : null;
}

/** How long the range is, be it relative or fixed; a step through time does not change it. */
function lengthOf(question: Question): number | null {
  const range = rangeOf(question, 0);
  return range && Math.round((range.to - range.from) / 1000);
}
