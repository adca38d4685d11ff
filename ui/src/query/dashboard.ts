// A dashboard's part in the queries of its tiles: the range, the comparison, the filters and the
// variables that all tiles share, and the address that has them.

import type { Dashboard, Tile, Variable } from "../api/documents";
import { durationMs } from "../base/duration";
import { type Filter, filterText, parseFilter, splitValues } from "./filter";
import { measureLabel } from "./measure";
import { constantsOf, placeholdersOf, replacePlaceholders } from "./placeholders";
import { PREVIOUS, type Query } from "./query";
import { groupLabel } from "./sql";
import { ALL, FULL_RANGE, moment } from "./time";
import { readQuery, urlOf } from "./url";
import { optionOf, type ViewManifest, withSql } from "./viewManifest";

/** Columns of the grid. */
export const GRID_COLUMNS = 12;
/** The size of a new tile. */
const NEW_WIDTH = 6;
const NEW_HEIGHT = 9;

/** What all tiles share. */
export interface Frame {
  readonly from: string;
  readonly to: string;
  readonly compare: string;
  readonly filters: readonly Filter[];
  /** The value of each variable: values between `|`, or empty. */
  readonly values: Readonly<Record<string, string>>;
}

/** The refresh rate of a text; empty for one that is none. */
export const refreshOf = (text: string | undefined): string =>
  (durationMs(text ?? "") ?? 0) >= 1000 ? (text ?? "") : "";

/** What a dashboard says, where the address says nothing else. */
export function frameOf(dashboard: Dashboard, search: string): Frame {
  const keys = new URLSearchParams(search);
  const text = (key: "from" | "to" | "compare") => keys.get(key) ?? dashboard[key] ?? "";
  const filters = keys.has("filter") ? keys.getAll("filter") : (dashboard.filters ?? []);
  const values: Record<string, string> = {};
  for (const { name, value } of dashboard.variables ?? []) values[name] = value ?? "";
  for (const set of keys.getAll("var")) {
    const [, name, value] = /^([a-z_][a-z0-9_]*)=(.*)$/s.exec(set) ?? [];
    if (name !== undefined && Object.hasOwn(values, name)) values[name] = value ?? "";
  }
  const compare = text("compare");
  return {
    ...rangeTexts(text("from"), text("to")),
    compare: compare === PREVIOUS || durationMs(compare) ? compare : "",
    filters: filters.flatMap((it) => parseFilter(it) ?? []),
    values,
  };
}

/** The texts of a range; the last day where they mean none. */
function rangeTexts(from: string, to: string): { from: string; to: string } {
  if (from === ALL) return FULL_RANGE;
  const now = Date.now();
  const [first, last] = [moment(from, now), moment(to || "now", now)];
  if (first === null || last === null || first >= last) return { from: "-1d", to: "now" };
  return { from, to: to || "now" };
}

/** The address of a dashboard in which all tiles share `frame`; what the dashboard says is left out. */
export function dashboardUrl(dashboard: Dashboard, frame: Frame): string {
  const keys = new URLSearchParams({ page: "dashboard", dashboard: dashboard.name });
  const usual = frameOf(dashboard, "");
  for (const key of ["from", "to", "compare"] as const) {
    if (frame[key] !== usual[key]) keys.set(key, frame[key]);
  }
  const texts = frame.filters.map(filterText);
  if (texts.join("\n") !== usual.filters.map(filterText).join("\n")) {
    for (const text of texts.length > 0 ? texts : [""]) keys.append("filter", text);
  }
  for (const [name, value] of Object.entries(frame.values)) {
    if (value !== usual.values[name]) keys.append("var", `${name}=${value}`);
  }
  return `?${keys}`;
}

/** The query of a tile, or null if its address says none. */
export function tileQuery(
  tile: Tile,
  frame: Frame,
  views: readonly ViewManifest[],
  columns?: ReadonlySet<string>,
): Query | null {
  const { query } = readQuery(`?${tile.query}`, views);
  if (!query) return null;
  // A filter on a column that this table does not have would leave nothing of it.
  const shared = frame.filters.filter(({ column }) => !columns || columns.has(column));
  const constants = (name: string) => constantsOf(valuesOf(frame.values, name));
  // SQL that has a variable in its text is filtered by it.
  const inText = placeholdersOf(sqlOf(query, views));
  const unnamed = query.filters.filter(
    ({ values }) => !values.some((it) => inText.has(REFERENCE.exec(it)?.[1] ?? "")),
  );
  return {
    ...withSql(query, views, (sql) => replacePlaceholders(sql, constants)),
    from: frame.from,
    to: frame.to,
    compare: frame.compare,
    refresh: "",
    filters: [...unnamed, ...shared].flatMap((it) => withValues(it, frame.values)),
  };
}

/** The SQL that a query is in its view; empty where it is not a text. */
function sqlOf(query: Query, views: readonly ViewManifest[]): string {
  const option = views.find(({ kind }) => kind === query.view.kind)?.sqlOption;
  return option ? optionOf(query, option) : "";
}

const REFERENCE = /^\$([a-z_][a-z0-9_]*)$/;

/** The values of a variable; none of one that is empty or unknown. */
function valuesOf(values: Frame["values"], name: string): string[] {
  const text = Object.hasOwn(values, name) ? (values[name] ?? "") : "";
  return text === "" ? [] : splitValues(text);
}

/** A filter with the values of variables instead of `$name`; none where a variable is empty. */
function withValues(filter: Filter, values: Frame["values"]): Filter[] {
  let isLeftOut = false;
  const replaced = filter.values.flatMap((value) => {
    const [, name] = REFERENCE.exec(value) ?? [];
    if (name === undefined || !Object.hasOwn(values, name)) return [value];
    const text = values[name] ?? "";
    if (text === "") isLeftOut = true;
    return splitValues(text);
  });
  return isLeftOut ? [] : [{ ...filter, values: replaced }];
}

/** The address of a tile with this query, without what the dashboard shares with all tiles. */
export function tileText(query: Query, views: readonly ViewManifest[]): string {
  const alone = { ...query, from: "", to: "now", compare: "", refresh: "" };
  return urlOf(alone, views).slice(1);
}

/** The title of a tile with this query that nobody names: `error rate by service`. */
export function tileTitle(query: Query, views: readonly ViewManifest[]): string {
  const view = views.find(({ kind }) => kind === query.view.kind);
  const of = (what: string) => `${view?.name ?? "Query"} of ${what}`;
  const column = view?.options.find((it) => it.columnTypes);
  const named = column === undefined ? "" : (query.view.options[column.key] ?? "");
  if (named !== "") return of(named);
  if (!view?.shows.includes("measures")) return of(query.table);
  const by = view.shows.includes("groups") ? query.group.map(groupLabel).join(", ") : "";
  const measures = query.measures.map(measureLabel).join(", ");
  return by === "" ? `${measures} of ${query.table}` : `${measures} by ${by}`;
}

/** A dashboard with a further tile, below all others. */
export function withTile(dashboard: Dashboard, title: string, query: string): Dashboard {
  const y = Math.max(0, ...dashboard.tiles.map((tile) => tile.y + tile.h));
  const tile = { ...(title ? { title } : {}), query, x: 0, y, w: NEW_WIDTH, h: NEW_HEIGHT };
  // Beside the last tile where there is room for it.
  const last = dashboard.tiles.find((it) => it.y + it.h === y && it.x + it.w <= GRID_COLUMNS / 2);
  const isFree = last && dashboard.tiles.every((it) => it.y + it.h <= last.y || it.x + it.w <= 6);
  const place = last && isFree ? { x: GRID_COLUMNS / 2, y: last.y, h: last.h } : {};
  return { ...dashboard, tiles: [...dashboard.tiles, { ...tile, ...place }] };
}

/** The dashboard that a file has, as far as can be seen; null if it has none. */
export function dashboardOfFile(text: string): Dashboard | null {
  try {
    const value = JSON.parse(text) as Partial<Dashboard> | null;
    const fits = typeof value?.name === "string" && Array.isArray(value.tiles);
    return fits ? (value as Dashboard) : null;
  } catch {
    return null;
  }
}

/** A dashboard as its file has it. */
export const fileText = (dashboard: Dashboard): string => `${JSON.stringify(dashboard, null, 2)}\n`;

/** The tables that tiles ask, the one of most tiles first. */
export function tablesOf(dashboard: Dashboard): string[] {
  const counts = new Map<string, number>();
  for (const { query } of dashboard.tiles) {
    const table = new URLSearchParams(query).get("table");
    if (table) counts.set(table, (counts.get(table) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([table]) => table);
}

/** The column whose values a variable takes; of the first filter that it is in. */
export function variableTarget(
  dashboard: Dashboard,
  { name, table, column }: Variable,
  views: readonly ViewManifest[],
): { table: string; column: string } | null {
  if (table && column) return { table, column };
  for (const tile of dashboard.tiles) {
    const { query } = readQuery(`?${tile.query}`, views);
    const filter = query?.filters.find(({ values }) => values.includes(`$${name}`));
    if (query && filter) return { table: query.table, column: filter.column };
  }
  return null;
}
