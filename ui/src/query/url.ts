// The question as the search part of the URL: readable keys, defaults left out. Documented in
// docs/page.md; links outlive versions, so a key never changes its meaning.

import { durationMs } from "../base/duration";
import { type Filter, filterText, parseFilter } from "./filter";
import { LIMIT_MAX, opening, type Question, SERIES_MAX, VIEWS, type View } from "./question";

const TEXTS = [
  "from",
  "to",
  "compare",
  "search",
  "where",
  "order",
  "bucket",
  "of",
  "extent",
  "refresh",
] as const;

/** The URL's search part for a question, with its `?`; empty for none. */
export function urlOf(question: Question | null): string {
  if (!question) return "";
  const usual = opening(question.table);
  const keys = new URLSearchParams({ table: question.table });
  if (question.view !== usual.view) keys.set("view", question.view);
  for (const key of TEXTS) if (question[key] !== usual[key]) keys.set(key, question[key]);
  for (const group of question.group) keys.append("by", group);
  if (question.measures.join() !== usual.measures.join()) {
    for (const measure of question.measures) keys.append("show", measure);
  }
  for (const filter of question.filters) keys.append("filter", filterText(filter));
  if (question.limit !== usual.limit) keys.set("limit", String(question.limit));
  if (question.series !== usual.series) keys.set("series", String(question.series));
  return `?${keys.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%28", "(").replaceAll("%29", ")")}`;
}

/** The question that a URL's search part asks; null without a table. What it cannot read is left. */
export function questionOf(search: string): Question | null {
  const keys = new URLSearchParams(search);
  const table = keys.get("table");
  if (!table) return null;
  const usual = opening(table);
  const text = (key: (typeof TEXTS)[number]) => keys.get(key) ?? usual[key];
  const measures = keys.getAll("show").filter((it) => it.trim() !== "");
  return {
    ...usual,
    view: viewOf(keys.get("view")) ?? usual.view,
    from: text("from"),
    to: text("to"),
    compare: lengthOr(text("compare"), ""),
    search: text("search"),
    where: text("where"),
    order: text("order"),
    bucket: lengthOr(text("bucket"), "auto"),
    of: text("of"),
    extent: text("extent"),
    refresh: lengthOr(text("refresh"), ""),
    group: keys.getAll("by").filter((it) => it.trim() !== ""),
    measures: measures.length > 0 ? measures : usual.measures,
    filters: keys
      .getAll("filter")
      .map(parseFilter)
      .filter((it): it is Filter => it !== null),
    limit: whole(keys.get("limit"), usual.limit, LIMIT_MAX),
    series: whole(keys.get("series"), usual.series, SERIES_MAX),
  };
}

const viewOf = (text: string | null): View | undefined => VIEWS.find((view) => view === text);
const lengthOr = (text: string, or: string) => (durationMs(text) ? text : or);

function whole(text: string | null, usual: number, most: number): number {
  const number = Number(text ?? "");
  return Number.isInteger(number) && number > 0 ? Math.min(number, most) : usual;
}
