import { useEffect } from "react";

/** While it `guards`, the browser asks before the tab is closed or loaded again. */
export function useBeforeUnload(guards: boolean): void {
  useEffect(() => {
    if (!guards) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [guards]);
}
