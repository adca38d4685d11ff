// The address bar as the page's state: the question is the URL, the browser's history its history.

import { useCallback, useMemo, useSyncExternalStore } from "react";
import { gradualKnob } from "../query/gradualField";
import type { Question } from "../query/query";
import { questionOf, readQuestion, type Unread, urlOf } from "../query/url";

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

function go(url: string, replace: boolean): void {
  if (url === window.location.search) return;
  const address = url === "" ? window.location.pathname : url;
  if (replace) window.history.replaceState(null, "", address);
  else window.history.pushState(null, "", address);
  for (const listener of listeners) listener();
}

/** Steps of one knob with no longer a pause between them are one entry of the history. */
const PAUSE_MS = 2000;
let last = { knob: "", url: "", at: 0 };

/** Whether a question goes on where the one before it was heading. */
function goesOn(next: Question): boolean {
  const here = window.location.search;
  const before = questionOf(here);
  const knob = before && gradualKnob(before, next);
  const same = knob !== null && last.knob === knob && last.url === here;
  const soon = Date.now() - last.at < PAUSE_MS;
  last = { knob: knob ?? "", url: urlOf(next), at: Date.now() };
  return same && soon;
}

/** The question of the URL, and a way to ask another: as a new entry of the history, or in place. */
export function useAddress(): {
  question: Question | null;
  /** What of the URL cannot be read; it stays there until something else is asked. */
  unread: readonly Unread[];
  commit: (next: Question) => void;
  replace: (next: Question) => void;
} {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  const { question, unread } = useMemo(() => readQuestion(search), [search]);
  const commit = useCallback((next: Question) => go(urlOf(next), goesOn(next)), []);
  const replace = useCallback((next: Question) => go(urlOf(next), true), []);
  return { question, unread, commit, replace };
}
