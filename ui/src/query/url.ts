// The query as the search part of the URL: readable keys, defaults left out. docs/page.md documents
// the keys; links outlive versions, so a key never changes its meaning.

import { replaceEqualDeep } from "@tanstack/react-query";
import { durationMs } from "../base/duration";
import { definitionText, parseDefinition } from "./definition";
import { filterText, parseFilter } from "./filter";
import { defaultQuery, LIMIT_MAX, PREVIOUS, type Query, SERIES_MAX } from "./query";
import { ALL, FULL_RANGE, moment } from "./time";
import type { IgnoredPart, ViewManifest } from "./viewManifest";

const TEXTS = ["from", "to", "compare", "search", "where", "order", "bucket"] as const;

/** The URL's search part for a query, with its `?`; empty for none. */
export function urlOf(query: Query | null, views: readonly ViewManifest[]): string {
  if (!query) return "";
  const usual = defaultQuery(query.table);
  const keys = new URLSearchParams({ table: query.table });
  if (query.view.kind !== usual.view.kind) keys.set("view", query.view.kind);
  for (const key of TEXTS) if (query[key] !== usual[key]) keys.set(key, query[key]);
  for (const { key } of optionsOf(views)) {
    const text = query.view.options[key];
    if (text !== undefined) keys.set(key, text);
  }
  if (query.refresh !== usual.refresh) keys.set("refresh", query.refresh);
  for (const one of query.define) keys.append("define", definitionText(one));
  for (const group of query.group) keys.append("by", group);
  if (query.measures.join() !== usual.measures.join()) {
    for (const measure of query.measures) keys.append("show", measure);
  }
  for (const filter of query.filters) keys.append("filter", filterText(filter));
  if (query.limit !== usual.limit) keys.set("limit", String(query.limit));
  if (query.series !== usual.series) keys.set("series", String(query.series));
  return `?${keys.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%28", "(").replaceAll("%29", ")")}`;
}

/** The search part with a table, where it names none; whatever else it says stays. */
export function withTable(search: string, table: string): string {
  const keys = new URLSearchParams(search);
  if (keys.get("table")) return search;
  keys.delete("table");
  const rest = keys.toString();
  return `?${new URLSearchParams({ table })}${rest === "" ? "" : `&${rest}`}`;
}

const optionsOf = (views: readonly ViewManifest[]) => [
  ...new Set(views.flatMap(({ options }) => options)),
];

/** What an address asks. */
interface ReadQuery {
  readonly query: Query | null;
  /** Its parts that cannot be read. */
  readonly ignored: readonly IgnoredPart[];
}

/**
 * What the next address asks. Parts that are equal to those before are the same objects, so that
 * what is drawn of them need not be drawn again.
 */
export function readNext(
  { query, ignored }: ReadQuery,
  search: string,
  views: readonly ViewManifest[],
): ReadQuery {
  return replaceEqualDeep({ query, ignored }, readQuery(search, views));
}

/** The query that a URL's search part asks, and what of it cannot be read. */
export function readQuery(search: string, views: readonly ViewManifest[]): ReadQuery {
  const keys = new URLSearchParams(search);
  const table = keys.get("table");
  const ignored: IgnoredPart[] = [];
  if (!table) return { query: null, ignored };
  const usual = defaultQuery(table);
  /** The value of a key as it is read; the usual one where there is none, or it means none. */
  const read = <T>(key: string, or: T, parse: (text: string) => T | null, why: string): T => {
    const text = keys.get(key);
    if (text === null || text === "") return or;
    const value = parse(text);
    if (value === null) ignored.push({ part: `${key}=${text}`, why });
    return value ?? or;
  };
  const text = (key: "search" | "where" | "order") => keys.get(key) ?? "";
  const length = (key: "compare" | "bucket" | "refresh") =>
    read(
      key,
      usual[key],
      (it) => (durationMs(it) ? it : null),
      "is not a length of time such as 5m",
    );
  const whole = (key: "limit" | "series", most: number) => {
    const number = read(key, usual[key], wholeOf, `is not a whole number; ${usual[key]} is used`);
    if (number > most) ignored.push({ part: `${key}=${number}`, why: `is cut to ${most}` });
    return Math.min(number, most);
  };
  const filters = keys.getAll("filter").flatMap((it) => {
    const filter = parseFilter(it);
    if (!filter)
      ignored.push({ part: `filter=${it}`, why: "is not a column, an operator and values" });
    return filter ?? [];
  });
  const define = keys.getAll("define").flatMap((it) => {
    const definition = parseDefinition(it);
    if (!definition) ignored.push({ part: `define=${it}`, why: "is not a name, = and SQL" });
    return definition ?? [];
  });
  const measures = keys.getAll("show").filter((it) => it.trim() !== "");
  const refresh = length("refresh");
  const tooFast = refresh !== "" && (durationMs(refresh) ?? 0) < 1000;
  if (tooFast) ignored.push({ part: `refresh=${refresh}`, why: "is too short; 1s is used" });
  const registered = (kind: string) => (views.some((view) => view.kind === kind) ? kind : null);
  const view = {
    kind: read("view", usual.view.kind, registered, "is not a view"),
    options: readOptions(keys, views, ignored),
  };
  const query: Query = {
    ...usual,
    view,
    ...rangeTexts(keys, ignored),
    compare: keys.get("compare") === PREVIOUS ? PREVIOUS : length("compare"),
    search: text("search"),
    where: text("where"),
    order: text("order"),
    bucket: keys.get("bucket") === usual.bucket ? usual.bucket : length("bucket"),
    refresh: tooFast ? "1s" : refresh,
    define,
    group: keys.getAll("by").filter((it) => it.trim() !== ""),
    measures: measures.length > 0 ? measures : usual.measures,
    filters,
    limit: whole("limit", LIMIT_MAX),
    series: whole("series", SERIES_MAX),
  };
  return { query, ignored };
}

/** The texts of the range; both are as if left out where they mean none. */
function rangeTexts(keys: URLSearchParams, ignored: IgnoredPart[]): { from: string; to: string } {
  if (keys.get("from") === ALL) {
    const to = keys.get("to") ?? "now";
    if (to !== "now") ignored.push({ part: `to=${to}`, why: "is left out: from=all is all rows" });
    return FULL_RANGE;
  }
  const now = Date.now();
  const ends = { from: keys.get("from") ?? "", to: keys.get("to") ?? "now" };
  const [from, to] = [moment(ends.from, now), moment(ends.to, now)];
  const none = { from: "", to: "now" };
  const other = "so a range that holds data is shown";
  if (ends.from !== "" && from === null)
    ignored.push({ part: `from=${ends.from}`, why: `is not a time, ${other}` });
  if (to === null) ignored.push({ part: `to=${ends.to}`, why: "is not a time; now is used" });
  if (from === null) {
    const alone = ends.from === "" && to !== null && ends.to !== "now";
    if (alone) ignored.push({ part: `to=${ends.to}`, why: `has no from, ${other}` });
    return none;
  }
  if (from < (to ?? now)) return { from: ends.from, to: to === null ? "now" : ends.to };
  ignored.push({
    part: `from=${ends.from}&to=${ends.to}`,
    why: `ends before it begins, ${other}`,
  });
  return none;
}

/** The options of all views as texts, without defaults. */
function readOptions(
  keys: URLSearchParams,
  views: readonly ViewManifest[],
  ignored: IgnoredPart[],
): Record<string, string> {
  const options: Record<string, string> = {};
  for (const option of optionsOf(views)) {
    const { key } = option;
    const text = keys.get(key) ?? "";
    const value = text === "" ? option.default : option.parse(text);
    if (value === null) ignored.push({ part: `${key}=${text}`, why: option.invalid });
    else if (option.text(value) !== option.text(option.default)) options[key] = option.text(value);
  }
  return options;
}

function wholeOf(text: string): number | null {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : null;
}
