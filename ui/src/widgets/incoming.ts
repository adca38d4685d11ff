// Files that are on their way. They belong to the page, not to the view that asked for them: a view
// is drawn again with every answer, while a file comes to its end.

import { useSyncExternalStore } from "react";

export interface Incoming {
  readonly name: string;
  /** How many bytes have come. */
  readonly bytes: number;
  /** Why it will not be there; null while it comes. */
  readonly failure: string | null;
  /** Ends the request if it runs, and takes the file off the list. */
  readonly remove: () => void;
}

let files: readonly Incoming[] = [];
const listeners = new Set<() => void>();

function set(next: readonly Incoming[]): void {
  files = next;
  for (const listener of listeners) listener();
}

/** A file on the list, and what can be said of it. After its removal nothing shows. */
export interface Listed {
  /** Ended when the person cancels the file. */
  readonly signal: AbortSignal;
  readonly progress: (bytes: number) => void;
  readonly fail: (failure: string) => void;
  readonly remove: () => void;
}

/** Puts a file on the list. */
export function listFile(name: string): Listed {
  const job = new AbortController();
  const remove = () => {
    job.abort();
    set(files.filter((file) => file.remove !== remove));
  };
  const change = (part: Partial<Incoming>) =>
    set(files.map((file) => (file.remove === remove ? { ...file, ...part } : file)));
  set([...files, { name, bytes: 0, failure: null, remove }]);
  return {
    signal: job.signal,
    progress: (bytes) => change({ bytes }),
    fail: (failure) => change({ failure }),
    remove,
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The files on the list, the oldest first. */
export const useIncoming = (): readonly Incoming[] => useSyncExternalStore(subscribe, () => files);
