// What the command palette offers: actions, views, columns, tables, and the last queries.

import type { Column, Table } from "../api/types";
import { queryWords } from "../explore/QueryLine";
import { toggleGroup } from "../query/edit";
import { defaultQuery, PREVIOUS, type Query } from "../query/query";
import { goLive, LIVE_RATE } from "../query/time";
import { readQuery } from "../query/url";
import { withView } from "../query/viewManifest";
import { VIEWS } from "../views/registry";
import { rangeWords } from "../widgets/time/timeWords";

export interface Command {
  readonly section:
    | "Actions"
    | "Pages"
    | "Views"
    | "Group by"
    | "Tables"
    | "Dashboards"
    | "Saved views"
    | "Recent queries";
  readonly label: string;
  readonly run: () => void;
}

export interface CommandContext {
  /** Null while no query is shown. */
  readonly query: Query | null;
  readonly columns: readonly Column[];
  readonly tables: readonly Table[];
  readonly recent: readonly string[];
  /** The names of dashboards, and what views are saved. */
  readonly dashboards: readonly string[];
  readonly savedViews: readonly { readonly name: string; readonly query: string }[];
  readonly now: number;
  readonly commit: (next: Query) => void;
  readonly again: () => void;
  readonly help: () => void;
  /** Shows a page beside that of the query, which stays in the address. */
  readonly open: (page: "home" | "cluster" | "functions") => void;
  /** Shows an address. */
  readonly go: (url: string) => void;
  readonly importFile: () => void;
}

/** All commands, in the order in which they are listed. */
export function commandsOf(context: CommandContext): Command[] {
  const { tables, commit } = context;
  return [
    ...recentCommands(context),
    ...actions(context),
    ...pageCommands(context),
    ...queryCommands(context),
    ...tables.map(
      ({ name }): Command => ({
        section: "Tables",
        label: name,
        run: () => commit(defaultQuery(name)),
      }),
    ),
    ...savedCommands(context),
  ];
}

function pageCommands({ open, go }: CommandContext): Command[] {
  const page = (label: string, run: () => void): Command => ({ section: "Pages", label, run });
  return [
    page("Home", () => open("home")),
    page("Dashboards and saved views", () => go("?page=dashboards")),
    page("Functions", () => open("functions")),
    page("Cluster", () => open("cluster")),
  ];
}

function savedCommands({ dashboards, savedViews, go }: CommandContext): Command[] {
  const urlOfBoard = (name: string) =>
    `?${new URLSearchParams({ page: "dashboard", dashboard: name })}`;
  return [
    ...dashboards.map(
      (name): Command => ({
        section: "Dashboards",
        label: name,
        run: () => go(urlOfBoard(name)),
      }),
    ),
    ...savedViews.map(
      ({ name, query }): Command => ({
        section: "Saved views",
        label: name,
        run: () => go(`?${query}`),
      }),
    ),
  ];
}

function actions({ query, now, commit, ...context }: CommandContext): Command[] {
  const action = (label: string, run: () => void): Command => ({ section: "Actions", label, run });
  const compared = query?.compare === "" ? PREVIOUS : "";
  const ofQuery = query
    ? [
        action("Refresh now", context.again),
        query.refresh === ""
          ? action("Go live: refresh every 2 seconds", () => commit(goLive(query, now, LIVE_RATE)))
          : action("Stop refreshing", () => commit({ ...query, refresh: "" })),
        action(compared === "" ? "Do not compare" : "Compare with the previous period", () =>
          commit({ ...query, compare: compared }),
        ),
        ...(query.filters.length > 0 || query.where !== "" || query.search !== ""
          ? [
              action("Clear filters", () =>
                commit({ ...query, filters: [], where: "", search: "" }),
              ),
            ]
          : []),
        ...(query.group.length > 0
          ? [action("Clear groups", () => commit({ ...query, group: [] }))]
          : []),
      ]
    : [];
  return [
    ...ofQuery,
    action("Import a file", context.importFile),
    action("Keyboard shortcuts", context.help),
  ];
}

function queryCommands({ query, columns, commit }: CommandContext): Command[] {
  if (!query) return [];
  const shown = VIEWS.map(
    ({ kind, name }): Command => ({
      section: "Views",
      label: name,
      run: () => commit(withView(query, kind)),
    }),
  );
  const groups = columns.map(
    ({ name }): Command => ({
      section: "Group by",
      label: name,
      run: () => commit(toggleGroup(query, name, VIEWS)),
    }),
  );
  return [...shown, ...groups];
}

function recentCommands({ recent, query, now, commit }: CommandContext): Command[] {
  return recent.flatMap((url, at): Command[] => {
    const read = readQuery(url, VIEWS).query;
    // The first is what is on the page.
    if (!read || (at === 0 && query)) return [];
    return [{ section: "Recent queries", label: wordsOf(read, now), run: () => commit(read) }];
  });
}

/** A query in a line: `requests · Stacked area · last 3 hours · by service`. */
export function wordsOf(query: Query, now: number): string {
  const view = VIEWS.find(({ kind }) => kind === query.view.kind)?.name ?? "";
  const range = rangeWords(query.from, query.to, now, "local");
  return [query.table, view, range, ...queryWords(query)].join(" · ");
}

/** The commands that have all words of a text in their section or label. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((it) => it !== "");
  const fits = ({ section, label }: Command) => {
    const whole = `${section} ${label}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  const starts = ({ label }: Command) => label.toLowerCase().startsWith(words[0] ?? "");
  const fitting = commands.filter(fits);
  if (words.length === 0) return fitting;
  return [...fitting.filter(starts), ...fitting.filter((it) => !starts(it))];
}
