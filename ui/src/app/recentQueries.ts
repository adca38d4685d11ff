// The last queries of this browser, as addresses.

import { useLocalStorage } from "@mantine/hooks";
import { useEffect } from "react";
import type { Query } from "../query/query";
import { urlOf } from "./address";

const KEPT = 50;
/** A query that stays for less is not remembered. */
const REMEMBER_MS = 400;

/** The addresses with one more, the newest first, each once. */
export const withRecent = (recent: readonly string[], url: string): string[] =>
  [url, ...recent.filter((it) => it !== url)].slice(0, KEPT);

/** What is stored, as far as it is a list of addresses: other versions may have written it. */
export const recentOf = (stored: unknown): string[] =>
  Array.isArray(stored) ? stored.filter((it): it is string => /^\?table=/.test(String(it))) : [];

/** The last queries, the newest first; a query is remembered while it is on the page. */
export function useRecentQueries(query: Query | null): readonly string[] {
  const [stored, setStored] = useLocalStorage<unknown>({
    key: "hadal-recent",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const url = query && query.from !== "" ? urlOf(query) : "";
  useEffect(() => {
    if (url === "") return;
    // The picture comes first.
    const timer = setTimeout(
      () => setStored((before: unknown) => withRecent(recentOf(before), url)),
      REMEMBER_MS,
    );
    return () => clearTimeout(timer);
  }, [url, setStored]);
  return recentOf(stored);
}
