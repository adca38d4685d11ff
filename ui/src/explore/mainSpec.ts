// The main request of the view on the page, which can be copied as SQL, JSON or curl.

import { useEffect, useSyncExternalStore } from "react";
import type { QuerySpec } from "../api/types";

let main: QuerySpec | null = null;
const listeners = new Set<() => void>();

function set(spec: QuerySpec | null): void {
  main = spec;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Makes a query the main one of the page while this component is on it. */
export function useAsMain(spec: QuerySpec): void {
  const text = JSON.stringify(spec);
  useEffect(() => {
    set(JSON.parse(text) as QuerySpec);
    return () => set(null);
  }, [text]);
}

/** The main query of the view on the page; null while there is none. */
export const useMainSpec = (): QuerySpec | null => useSyncExternalStore(subscribe, () => main);
