// A word of the page on what it has just done, which goes by itself: `Copied`.

import { useSyncExternalStore } from "react";

export interface Notice {
  readonly text: string;
  /** Whether something did not work. */
  readonly isProblem: boolean;
}

const SHOWN_MS = 4000;
const PROBLEM_SHOWN_MS = 12_000;

let notice: Notice | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function set(next: Notice | null): void {
  notice = next;
  for (const listener of listeners) listener();
}

/** Shows a notice in the place of the one before. */
export function tell(text: string, isProblem = false): void {
  clearTimeout(timer);
  set({ text, isProblem });
  timer = setTimeout(() => set(null), isProblem ? PROBLEM_SHOWN_MS : SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The notice that is shown now; null for none. */
export const useNotice = (): Notice | null => useSyncExternalStore(subscribe, () => notice);
