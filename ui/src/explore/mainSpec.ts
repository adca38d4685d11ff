// The main request of the view on the page, which can be shown as SQL, JSON, curl or Python.

import { useEffect, useSyncExternalStore } from "react";
import type { QuerySpec } from "../api/types";

/** A request: a query, or a statement of SQL. */
export type MainSpec = QuerySpec | { readonly sql: string };

let main: MainSpec | null = null;
const listeners = new Set<() => void>();

function set(spec: MainSpec | null): void {
  main = spec;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Makes a query the main one of the page while this component is on it. */
export function useAsMain(spec: MainSpec): void {
  const text = JSON.stringify(spec);
  useEffect(() => {
    set(JSON.parse(text) as MainSpec);
    return () => set(null);
  }, [text]);
}

/** The main query of the view on the page; null while there is none. */
export const useMainSpec = (): MainSpec | null => useSyncExternalStore(subscribe, () => main);
