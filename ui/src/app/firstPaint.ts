import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

/**
 * Whether what was drawn first is painted by now: what follows may take its time. A key that is
 * pressed before may be meant for what follows, which is then drawn at once.
 */
export function useFirstPaint(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    if (isPainted) return;
    const end = () => setPainted(true);
    const endNow = () => flushSync(end);
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(end);
    });
    window.addEventListener("keydown", endNow, { capture: true });
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("keydown", endNow, { capture: true });
    };
  }, [isPainted]);
  return isPainted;
}
