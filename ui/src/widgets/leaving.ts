// A question before the page shows another address: what is not saved would be lost.

import { useEffect, useRef, useState } from "react";
import { useBeforeUnload } from "./beforeUnload";

/** Whether an address is asked about first; `leave` shows it once the answer is yes. */
type Guard = (url: string, leave: () => void) => boolean;

let guard: Guard | null = null;

/** Whether the page asks before it shows `url`. If so, `leave` is called when it may. */
export const asksFirst: Guard = (url, leave) => guard?.(url, leave) ?? false;

/**
 * While it `guards`, the page asks before it is left: for another address, unless `stays` says that
 * nothing is lost there, and when the tab is closed. Returns the question that waits for its answer.
 */
export function useLeaveGuard(
  guards: boolean,
  stays: (url: string) => boolean,
): { isAsked: boolean; leave: () => void; stay: () => void } {
  const [asked, setAsked] = useState<{ readonly leave: () => void } | null>(null);
  const latest = useRef(stays);
  latest.current = stays;
  useBeforeUnload(guards);
  useEffect(() => {
    if (!guards) return;
    const own: Guard = (url, leave) => {
      if (latest.current(url)) return false;
      setAsked({ leave });
      return true;
    };
    guard = own;
    return () => {
      if (guard === own) guard = null;
    };
  }, [guards]);
  const leave = () => {
    guard = null;
    setAsked(null);
    asked?.leave();
  };
  return { isAsked: asked !== null, leave, stay: () => setAsked(null) };
}
