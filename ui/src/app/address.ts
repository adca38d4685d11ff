// The address bar as the page's state: the query is the URL, the browser's history its history.

import { useCallback, useSyncExternalStore } from "react";
import { gradualField } from "../query/gradualField";
import type { Query } from "../query/query";
import { readNext, readQuery, urlOf as urlFor } from "../query/url";
import type { IgnoredPart } from "../query/viewManifest";
import { VIEWS } from "../views/registry";
import { asksFirst } from "../widgets/leaving";

/** The search part of a query's URL. */
export const urlOf = (query: Query | null): string => urlFor(query, VIEWS);

const listeners = new Set<() => void>();
/** The address that the page shows, which a step of the history may have left already. */
let shown = "";

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    shown = window.location.search;
    window.addEventListener("popstate", stepped);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("popstate", stepped);
  };
}

function notify(): void {
  shown = window.location.search;
  for (const listener of listeners) listener();
}

/** After a step of the history. One that is asked about is undone until the answer is there. */
function stepped(): void {
  if (asksFirst(window.location.search, () => window.history.back())) {
    window.history.pushState(null, "", shown);
  } else notify();
}

/** Shows an address: its search part, with its `?`. */
export function go(url: string, replace = false): void {
  if (url === window.location.search) return;
  const leave = () => {
    const address = url === "" ? window.location.pathname : url;
    if (replace) window.history.replaceState(null, "", address);
    else window.history.pushState(null, "", address);
    notify();
  };
  if (!asksFirst(url, leave)) leave();
}

let read = { search: "", ...readQuery("", VIEWS) };

/** What the address asks: read once for each address. */
export function asked(): typeof read {
  const { search } = window.location;
  if (search === read.search) return read;
  const next = readNext(read, search, VIEWS);
  const page = new URLSearchParams(search).get("page");
  const isPage = page === null || page === "query" || PAGES.some((it) => it === page);
  const noPage = isPage ? [] : [{ part: `page=${page}`, why: "is not a page" }];
  read = {
    search,
    query: next.query,
    ignored: isPage ? next.ignored : [...noPage, ...next.ignored],
  };
  return read;
}

/** Steps of one field with no longer a pause between them are one entry of the history. */
const PAUSE_MS = 2000;
let last = { field: "", url: "", at: 0 };

/** Whether a query continues the last step: the same field, soon after. */
function goesOn(next: Query): boolean {
  const { search: here, query: before } = asked();
  const field = before && gradualField(before, next);
  const same = field !== null && last.field === field && last.url === here;
  const soon = Date.now() - last.at < PAUSE_MS;
  last = { field: field ?? "", url: urlOf(next), at: Date.now() };
  return same && soon;
}

/** The query of the URL, and a way to ask another as a new entry of the history. */
export function useAddress(): {
  query: Query | null;
  /** Invalid parts of the URL; they stay there until the query changes. */
  ignored: readonly IgnoredPart[];
  commit: (next: Query) => void;
} {
  const { query, ignored } = useSyncExternalStore(subscribe, asked);
  const commit = useCallback((next: Query) => go(withBoard(urlOf(next)), goesOn(next)), []);
  return { query, ignored, commit };
}

/** Asks another query in place of the present one. */
export const replaceQuery = (next: Query): void => go(withBoard(urlOf(next)), true);

/** A query's URL, which keeps the dashboard that the query was opened from. */
function withBoard(url: string): string {
  const here = new URLSearchParams(window.location.search);
  const board = here.get("page") === null ? here.get("dashboard") : null;
  return board === null ? url : `${url}&dashboard=${encodeURIComponent(board)}`;
}

/** The search part of the address. */
export const useSearch = (): string =>
  useSyncExternalStore(subscribe, () => window.location.search);

/** The address of the home page. */
export const HOME_ADDRESS = "?page=home";

/** Pages beside that of the query, which stays in the URL while they are shown. */
const PAGES = ["home", "cluster", "functions", "dashboards", "dashboard", "snapshot"] as const;
/** What the page shows. */
export type PageName = "query" | (typeof PAGES)[number];

/** What the search part of an address shows. */
export function pageOf(search: string): PageName {
  const shown = new URLSearchParams(search).get("page");
  return PAGES.find((it) => it === shown) ?? "query";
}

/** What the page shows, and a way to show another. */
export function usePage(): { page: PageName; open: (page: PageName) => void } {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  const open = useCallback((page: PageName) => {
    const keys = new URLSearchParams(window.location.search);
    if (page === "query") keys.delete("page");
    else keys.set("page", page);
    const rest = keys.toString();
    go(rest === "" ? "" : `?${rest}`, false);
  }, []);
  return { page: pageOf(search), open };
}
