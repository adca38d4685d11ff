// When each tile asks: all at once on request, and otherwise one after the other, so that a
// dashboard's queries are spread over the time between two refreshes.

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { serverNow } from "../api/client";
import { durationMs } from "../base/duration";

/** No timer is shorter. */
const STEP_MS = 250;

/** The moment of asking of each of `count` tiles, and a way to ask all again. */
export function useTileClock(count: number, refresh: string): [(at: number) => number, () => void] {
  const [base, setBase] = useState(serverNow);
  const [turns, setTurns] = useState<Readonly<Record<number, number>>>({});
  const every = durationMs(refresh) ?? 0;
  useEffect(() => {
    if (every < 1000 || count === 0) return;
    let at = 0;
    const timer = setInterval(
      () => {
        if (document.hidden) return;
        const turn = at % count;
        at += 1;
        setTurns((before) => ({ ...before, [turn]: serverNow() }));
      },
      Math.min(Math.max(every / count, STEP_MS), 2 ** 31 - 1),
    );
    return () => clearInterval(timer);
  }, [every, count]);
  const client = useQueryClient();
  const again = useCallback(() => {
    // Queries of fixed times are the same then, and may have got more rows.
    void client.invalidateQueries({ queryKey: ["answer"] });
    setBase(serverNow());
    setTurns({});
  }, [client]);
  return [(at) => Math.max(base, turns[at] ?? 0), again];
}
