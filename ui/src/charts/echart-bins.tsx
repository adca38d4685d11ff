// The ground under a chart of adjacent bins (buckets of time, bars of a histogram): hovering a bin,
// dragging over several bins, clicking, and doing each of these by keyboard.

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useState } from "react";
import styles from "./echart.module.css";
import type { Plot } from "./echart-axes";
import type { Point } from "./echart-tip";

/** The bin that is pointed at. */
export interface Hover {
  readonly bin: number;
  /** Within the plot, in pixels; `y` is null for a bin that keys chose. */
  readonly x: number;
  readonly y: number | null;
  /** In the window. */
  readonly client: Point;
}

/** Bins that are selected, both ends included. */
export interface Selection {
  readonly first: number;
  readonly last: number;
}

interface Drag {
  bin: number;
  x: number;
  to: number;
  toX: number;
}

/** A drag shorter than this is a click. */
const CLICK = 4;
/** A drag within one bin is meant from here on. */
const DRAG = 8;
/** So near to an edge of the plot a centred text might not fit. */
const EDGE = 90;

interface BinsProps {
  readonly plot: Plot;
  readonly bins: number;
  /** The bin at a place of the plot, in pixels from its left. */
  readonly binAt: (x: number) => number;
  /** The ends of a bin, in pixels from the plot's left. */
  readonly edges: (bin: number) => readonly [number, number];
  readonly hover: Hover | null;
  readonly onHover: (hover: Hover | null) => void;
  readonly onSelect: (selection: Selection, at: Point) => void;
  readonly onClick: (hover: Hover) => void;
  /** What a selection is called while it is drawn. */
  readonly lengthText: (selection: Selection) => string;
  /** What a bin says, for who cannot see it. */
  readonly binText: (bin: number) => string;
  readonly label: string;
  readonly cursor: string;
  /** What is drawn over the chart, in the plot's pixels. */
  readonly children?: ReactNode;
}

const selectionOf = (drag: Drag): Selection => ({
  first: Math.min(drag.bin, drag.to),
  last: Math.max(drag.bin, drag.to),
});

function isMeant({ bin, x, to, toX }: Drag): boolean {
  const moved = Math.abs(toX - x);
  return moved >= DRAG || (moved >= CLICK && bin !== to);
}

/** The ground that takes pointers and keys. */
export function Bins(props: BinsProps) {
  const { plot, bins, binAt, edges, hover, onHover, onSelect, onClick } = props;
  const [drag, setDrag] = useState<Drag | null>(null);
  useEscape(drag !== null, () => setDrag(null));

  const hoverOf = (event: PointerEvent): Hover => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = Math.max(0, Math.min(plot.width, event.clientX - box.left));
    const y = event.clientY - box.top;
    return { bin: clamp(binAt(x), bins), x, y, client: { x: event.clientX, y: event.clientY } };
  };
  const move = (event: PointerEvent) => {
    const over = hoverOf(event);
    const next = drag && { ...drag, to: over.bin, toX: over.x };
    if (next) setDrag(next);
    // No hover during a selection.
    onHover(next && isMeant(next) ? null : over);
  };
  const down = (event: PointerEvent) => {
    const over = hoverOf(event);
    if (event.button !== 0) return;
    if (event.pointerType === "touch") {
      // The first tap shows the tip, the second selects.
      if (hover?.bin === over.bin) onClick(over);
      return onHover(over);
    }
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ bin: over.bin, x: over.x, to: over.bin, toX: over.x });
  };
  const up = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    const over = hoverOf(event);
    const done = { ...drag, to: over.bin, toX: over.x };
    if (isMeant(done)) onSelect(selectionOf(done), over.client);
    else onClick(over);
  };
  const selected = drag && isMeant(drag) ? selectionOf(drag) : null;
  const keys = useKeys(props, drag, setDrag);
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, bins - 1)}
      aria-valuenow={hover?.bin ?? 0}
      aria-valuetext={hover ? props.binText(hover.bin) : props.binText(0)}
      className={styles.ground}
      style={{ ...plot, cursor: props.cursor }}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => setDrag(null)}
      onPointerLeave={(event) => event.pointerType !== "touch" && !drag && onHover(null)}
      onKeyDown={keys}
      onBlur={() => onHover(null)}
    >
      {props.children}
      {selected && <Band {...{ plot, selected, edges }} text={props.lengthText(selected)} />}
    </div>
  );
}

function Band(props: {
  plot: Plot;
  selected: Selection;
  edges: (bin: number) => readonly [number, number];
  text: string;
}) {
  const left = props.edges(props.selected.first)[0];
  const right = props.edges(props.selected.last)[1];
  const centre = (left + right) / 2;
  // Beside an edge of the plot the text begins or ends with the band.
  const justifyContent =
    centre < EDGE ? "flex-start" : centre > props.plot.width - EDGE ? "flex-end" : "center";
  return (
    <div className={styles.band} style={{ left, width: Math.max(1, right - left), justifyContent }}>
      <span className={styles.length}>{props.text}</span>
    </div>
  );
}

/** Arrows move, with Shift they select; Enter means what is there, Esc drops it. */
function useKeys(props: BinsProps, drag: Drag | null, setDrag: (drag: Drag | null) => void) {
  const { plot, bins, edges, hover } = props;
  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const box = event.currentTarget.getBoundingClientRect();
    const hoverAt = (bin: number): Hover => {
      const [left, right] = edges(bin);
      const x = (left + right) / 2;
      return { bin, x, y: null, client: { x: box.left + x, y: box.top + plot.height / 2 } };
    };
    const here = hover?.bin ?? null;
    const steps: Record<string, number> = {
      ArrowLeft: (here ?? bins) - 1,
      ArrowRight: (here ?? -1) + 1,
      PageUp: (here ?? bins) - 10,
      PageDown: (here ?? -1) + 10,
      Home: 0,
      End: bins - 1,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      const next = hoverAt(clamp(step, bins));
      const from = drag ?? (here === null ? null : dragFrom(here, edges));
      setDrag(event.shiftKey && from ? { ...from, to: next.bin, toX: from.x + DRAG } : null);
      props.onHover(next);
    } else if (event.key === "Enter" && here !== null) {
      setDrag(null);
      if (drag) props.onSelect(selectionOf(drag), hoverAt(here).client);
      else props.onClick(hoverAt(here));
    } else if (event.key === "Escape" && (drag || hover)) {
      setDrag(null);
      props.onHover(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

function dragFrom(bin: number, edges: BinsProps["edges"]): Drag {
  const x = edges(bin)[0];
  return { bin, x, to: bin, toX: x };
}

const clamp = (bin: number, bins: number) => Math.max(0, Math.min(bins - 1, bin));

function useEscape(active: boolean, drop: () => void) {
  useEffect(() => {
    if (!active) return;
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key === "Escape") drop();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
}
