// The moment that the page asks for: the present when it asked last.

import { useSyncExternalStore } from "react";
import { serverNow } from "../api/client";

let moment = serverNow();
const listeners = new Set<() => void>();

/** Asks for the present from here on; the moment in milliseconds by the server's clock. */
export function moveOn(): number {
  moment = serverNow();
  for (const listener of listeners) listener();
  return moment;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The moment in milliseconds by the server's clock. */
export const useMoment = (): number => useSyncExternalStore(subscribe, () => moment);
