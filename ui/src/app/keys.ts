// The keys of the page. Letters do nothing while somebody types into a field.

import { useHotkeys } from "@mantine/hooks";
import type { Commit } from "../explore/context";
import { PREVIOUS, type Query } from "../query/query";
import { goLive, LIVE_RATE, stepRange } from "../query/time";

export const KEYS: readonly (readonly [string, string])[] = [
  ["/", "filter; twice: search all columns"],
  ["g", "group by"],
  ["m", "measure"],
  ["t", "time range"],
  ["c", "compare with the previous period"],
  ["1 – 9", "the views that fit the query"],
  ["[ ]", "earlier, later"],
  ["z", "zoom out"],
  [".", "live: refresh every 2 seconds, or as answers allow"],
  ["Ctrl Enter", "refresh now"],
  ["Ctrl Z", "undo: the browser's back; with Shift, redo"],
  ["Ctrl K", "commands and recent queries"],
  ["?", "this help"],
];

/** Where a sign stands is a matter of the keyboard: `/` is typed with Shift on many. */
const typed = (key: string, run: () => void): [string, () => void][] => [
  [key, run],
  [`shift+${key}`, run],
];

const focus = (id: string) => () => document.getElementById(id)?.focus();

function onFromFilter(event: KeyboardEvent): void {
  const { target } = event;
  if (!(target instanceof HTMLInputElement) || target.id !== "filter-input") return;
  if (target.value !== "") return;
  event.preventDefault();
  focus("search-input")();
}

/** Binds the keys to a query and to asking it again. */
export function useKeys(
  query: Query | null,
  now: number,
  commit: Commit,
  again: () => void,
  help: () => void,
  palette: () => void,
): void {
  const change = (next: (query: Query) => Query) => () => commit(next);
  useHotkeys([
    ...typed("/", focus("filter-input")),
    ["g", focus("group-input")],
    ["m", focus("measure-input")],
    ["t", () => document.getElementById("time-input")?.click()],
    ["c", change((it) => ({ ...it, compare: it.compare === "" ? PREVIOUS : "" }))],
    ["[", change((it) => stepRange(it, now, -1))],
    ["]", change((it) => stepRange(it, now, 1))],
    ["z", change((it) => stepRange(it, now, 0))],
    ...typed(
      ".",
      change((it) => (it.refresh === "" ? goLive(it, now, LIVE_RATE) : { ...it, refresh: "" })),
    ),
    ...typed("?", help),
    ["mod+Enter", again],
    // Elsewhere, as in a dashboard that is edited, the page would be left.
    ["mod+Z", () => query && window.history.back()],
    ["mod+shift+Z", () => query && window.history.forward()],
  ]);
  // Also out of a field.
  useHotkeys([["mod+K", palette]], []);
  // A second `/` arrives in the filter's own field, where it would begin no filter.
  const quiet = { preventDefault: false };
  useHotkeys(
    [
      ["/", onFromFilter, quiet],
      ["shift+/", onFromFilter, quiet],
    ],
    [],
  );
}
