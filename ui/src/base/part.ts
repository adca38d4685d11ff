// Parts of the page that are loaded when they are first shown. A server that is away, or that has
// another version of the page by now, is no fault of the page: a part waits until it can be loaded.

import { type ComponentType, type LazyExoticComponent, lazy, useSyncExternalStore } from "react";

/** Why a part is not there: the server does not send it, or has another version of the page. */
export type PartFailure = "missing" | "renewed";

const AGAIN_MS = 1000;
const AGAIN_MOST_MS = 8000;

let failure: PartFailure | null = null;
const listeners = new Set<() => void>();
/** What ends the pauses of the parts that wait. */
const waiting = new Set<() => void>();

function set(next: PartFailure | null): void {
  failure = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What keeps a part from being loaded now; null for nothing. */
export const usePartFailure = (): PartFailure | null =>
  useSyncExternalStore(subscribe, () => failure);

/** Calls a function whenever a part cannot be loaded for another reason than before. */
export function onPartFailure(listener: (failure: PartFailure) => void): () => void {
  let last = failure;
  return subscribe(() => {
    if (failure !== null && failure !== last) listener(failure);
    last = failure;
  });
}

/** Tries at once to load the parts that wait. */
export function loadNow(): void {
  for (const end of waiting) end();
}

/** Whether an import failed to load: the words of Chromium, of Firefox, of WebKit, and of Vite. */
const isOfLoading = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|importing a module script|unable to preload/i.test(error.message);

/** Where a page's own scripts are, in the order of the document. */
const scriptsOf = (page: Document): string =>
  [...page.querySelectorAll("script[src]")].map((it) => it.getAttribute("src")).join();

/** Whether the server has another version of this page; rejects while it is away. */
async function isRenewed(): Promise<boolean> {
  const response = await fetch(window.location.pathname, { cache: "no-store" });
  if (!response.ok) throw new Error("no page");
  // Names of scripts have a hash of what is in them.
  const html = await response.text();
  return scriptsOf(document)
    .split(",")
    .some((script) => !html.includes(script));
}

const pause = (ms: number) =>
  new Promise<void>((done) => {
    const end = () => {
      clearTimeout(timer);
      waiting.delete(end);
      done();
    };
    const timer = setTimeout(end, ms);
    waiting.add(end);
  });

/** What `load` imports. Until the server sends it, it is asked for again; other faults reject. */
export async function loadPart<Part>(
  load: () => Promise<Part>,
  renewed: () => Promise<boolean> = isRenewed,
): Promise<Part> {
  for (let wait = AGAIN_MS; ; wait = Math.min(AGAIN_MOST_MS, wait * 2)) {
    try {
      const part = await load();
      if (failure !== null) set(null);
      return part;
    } catch (error) {
      if (!isOfLoading(error)) throw error;
      set((await renewed().catch(() => false)) ? "renewed" : "missing");
      await pause(wait);
    }
  }
}

/** A component that is loaded when it is first drawn. */
export const lazyPart = <Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> => lazy(() => loadPart(load));
