// Changes of the variables of a dashboard, with the filters of its tiles that have them.

import type { Dashboard, Tile, Variable } from "../api/documents";
import { tileText } from "../query/dashboard";
import type { Filter } from "../query/filter";
import { RANGE_NAMES, replacePlaceholders } from "../query/placeholders";
import type { Query } from "../query/query";
import { readQuery } from "../query/url";
import { type ViewManifest, withSql } from "../query/viewManifest";

type Views = readonly ViewManifest[];

/** What is wrong with a name beside the names of the other variables; null for nothing. */
export function nameMistake(name: string, others: readonly string[]): string | null {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) return "Small letters, digits and _, not a digit first";
  if (RANGE_NAMES.includes(name)) return "The time range has this name in SQL";
  return others.includes(name) ? "There is a variable of this name" : null;
}

/** A name for a variable of this column. */
export const nameOfColumn = (column: string): string =>
  column
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, "_")
    .replace(/^(?=\d)/, "_");

/** The dashboard with a further variable, or with another one in the place of `replaced`. */
export function withVariable(
  dashboard: Dashboard,
  variable: Variable,
  replaced: string | null,
  views: Views,
): Dashboard {
  const variables = dashboard.variables ?? [];
  if (replaced === null) return { ...dashboard, variables: [...variables, variable] };
  const next = variables.map((old) => (old.name === replaced ? { ...old, ...variable } : old));
  const [from, to] = [`$${replaced}`, `$${variable.name}`];
  const rename = (filters: readonly Filter[]) =>
    filters.map((filter) => ({
      ...filter,
      values: filter.values.map((value) => (value === from ? to : value)),
    }));
  const inSql = (sql: string) =>
    replacePlaceholders(sql, (name) => (name === replaced ? to : undefined));
  const tiles = dashboard.tiles.map((tile) =>
    withQuery(
      tile,
      (query) => withSql({ ...query, filters: rename(query.filters) }, views, inSql),
      views,
    ),
  );
  return { ...dashboard, variables: next, tiles };
}

/** The dashboard without a variable, and without the filters that have it. */
export function withoutVariable(dashboard: Dashboard, name: string, views: Views): Dashboard {
  const variables = (dashboard.variables ?? []).filter((variable) => variable.name !== name);
  const drop = (filters: readonly Filter[]) =>
    filters.filter(({ values }) => !values.includes(`$${name}`));
  const tiles = dashboard.tiles.map((tile) => withFilters(tile, drop, views));
  return { ...dashboard, variables, tiles };
}

/** The dashboard in which all tiles of the variable's table are filtered by it. */
export function filteredBy(
  dashboard: Dashboard,
  { name, table, column }: Variable,
  views: Views,
): Dashboard {
  if (!table || !column) return dashboard;
  const value = `$${name}`;
  const add = (filters: readonly Filter[], query: Query): readonly Filter[] => {
    const has = filters.some(({ values }) => values.includes(value));
    return has || query.table !== table
      ? filters
      : [...filters, { column, operator: "=", values: [value] }];
  };
  return { ...dashboard, tiles: dashboard.tiles.map((tile) => withFilters(tile, add, views)) };
}

/** The tile with other filters; as it is where nothing changes. */
function withFilters(
  tile: Tile,
  change: (filters: readonly Filter[], query: Query) => readonly Filter[],
  views: Views,
): Tile {
  return withQuery(
    tile,
    (query) => ({ ...query, filters: [...change(query.filters, query)] }),
    views,
  );
}

/** The tile with another query; as it is where nothing changes. */
function withQuery(tile: Tile, change: (query: Query) => Query, views: Views): Tile {
  const { query } = readQuery(`?${tile.query}`, views);
  if (!query) return tile;
  const next = change(query);
  if (JSON.stringify(next) === JSON.stringify(query)) return tile;
  return { ...tile, query: tileText(next, views) };
}
