// The address bar as the page's state: the question is the URL, the browser's history its history.

import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { Question } from "../query/question";
import { questionOf, urlOf } from "../query/url";

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

/** The question of the URL, and a way to ask another: as a new entry of the history, or in place. */
export function useAddress(): {
  question: Question | null;
  commit: (next: Question) => void;
  replace: (next: Question) => void;
} {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  const question = useMemo(() => questionOf(search), [search]);
  const commit = useCallback((next: Question) => go(urlOf(next), false), []);
  const replace = useCallback((next: Question) => go(urlOf(next), true), []);
  return { question, commit, replace };
}
