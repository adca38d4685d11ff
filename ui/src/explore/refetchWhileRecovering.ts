// Repeats queries while answers grow: a server that has just started answers before it has
// recovered all of its rows.

import { type Query as CachedQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Answer, QuerySpec, Table } from "../api/types";
import { mayRecover, recoveringRows } from "../widgets/coverage/coverage";

const AGAIN_MS = 1000;

/** How many rows may come yet of an answer to a query about the table. */
function missingRows(cached: CachedQuery, table: string): number {
  const [kind, spec] = cached.queryKey as [string, QuerySpec | null];
  const answer = cached.state.data as Answer | undefined;
  return kind === "answer" && spec?.table === table && answer ? recoveringRows(answer.coverage) : 0;
}

/**
 * While rows of a table come back after a start, asks again for all answers on the page that lack some, and how many
 * are still to come. Rows that are lost for good are asked for once more, and left alone.
 */
export function useRefetchWhileRecovering({ name, waiting_rows }: Table): void {
  const client = useQueryClient();
  const waiting = useRef(0);
  waiting.current = waiting_rows;
  useEffect(() => {
    const cache = client.getQueryCache();
    let before: number | null = null;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const again = () => {
      timer = null;
      const predicate = (cached: CachedQuery) => missingRows(cached, name) > 0;
      void client.refetchQueries({ type: "active", predicate });
    };
    const look = (cached: CachedQuery) => {
      const rows = missingRows(cached, name);
      if (!mayRecover(rows, before, waiting.current)) return;
      before = rows;
      if (timer !== null) return;
      timer = setTimeout(again, AGAIN_MS);
      // Known before the next answers are there.
      void client.invalidateQueries({ queryKey: ["tables"] });
    };
    cache.findAll({ queryKey: ["answer"], type: "active" }).forEach(look);
    const stop = cache.subscribe((event) => {
      if (event.type === "updated" && event.action.type === "success") look(event.query);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [client, name]);
}
