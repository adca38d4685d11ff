import { Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";

/** How long the pointer rests before a hint is shown. */
const DELAY_MS = 400;

interface Hint {
  readonly target: HTMLElement;
  readonly text: string;
}

/**
 * The texts of `data-hint`, each shown beside its element while the pointer rests on it. One tooltip
 * serves the whole page: a component around each element would take as long to draw as the rest.
 */
export function Hints() {
  const [shown, setShown] = useState<Hint | null>(null);
  useEffect(() => {
    let over: HTMLElement | null = null;
    let timer = 0;
    const enter = (target: HTMLElement | null) => {
      if (target === over) return;
      over = target;
      window.clearTimeout(timer);
      setShown(null);
      const text = target?.dataset.hint;
      if (target && text) timer = window.setTimeout(() => setShown({ target, text }), DELAY_MS);
    };
    const move = ({ target }: Event) =>
      enter(target instanceof Element ? target.closest<HTMLElement>("[data-hint]") : null);
    const leave = () => enter(null);
    // What is pressed has done its work.
    const press = () => {
      window.clearTimeout(timer);
      setShown(null);
    };
    const root = document.documentElement;
    root.addEventListener("mouseover", move);
    root.addEventListener("mouseleave", leave);
    root.addEventListener("pointerdown", press);
    return () => {
      window.clearTimeout(timer);
      root.removeEventListener("mouseover", move);
      root.removeEventListener("mouseleave", leave);
      root.removeEventListener("pointerdown", press);
    };
  }, []);
  return shown && <Tooltip opened multiline maw={360} target={shown.target} label={shown.text} />;
}
