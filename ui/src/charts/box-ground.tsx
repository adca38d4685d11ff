// The ground under a chart of two axes: hovering, dragging a box, clicking, and each of these by
// keyboard.

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useState } from "react";
import styles from "./echart.module.css";
import type { Plot } from "./echart-axes";
import type { Point } from "./echart-tip";

/** A place of the plot, in pixels from its left and top, and in the window. */
export interface BoxPoint {
  readonly x: number;
  readonly y: number;
  readonly client: Point;
}

/** A box of the plot, in pixels from its left and top. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Drag {
  readonly from: BoxPoint;
  readonly to: BoxPoint;
}

/** A drag shorter than this is a click. */
const CLICK = 5;

const boxOf = ({ from, to }: Drag): Box => ({
  left: Math.min(from.x, to.x),
  top: Math.min(from.y, to.y),
  right: Math.max(from.x, to.x),
  bottom: Math.max(from.y, to.y),
});

const isMeant = ({ from, to }: Drag) =>
  Math.abs(from.x - to.x) >= CLICK || Math.abs(from.y - to.y) >= CLICK;

/** The ground that takes pointers and keys. `step` is how far a key moves, in pixels. */
export function BoxGround(props: {
  plot: Plot;
  step: { readonly x: number; readonly y: number };
  place: BoxPoint | null;
  onPlace: (place: BoxPoint | null) => void;
  onClick: (place: BoxPoint) => void;
  onBox: (box: Box, at: Point) => void;
  /** Widens a box while it is drawn: to whole cells. */
  snap: (box: Box) => Box;
  label: string;
  /** What is at the place that keys moved to. */
  spoken: string;
  children?: ReactNode;
}) {
  const { plot, place, onPlace, onClick, onBox, snap } = props;
  const [drag, setDrag] = useState<Drag | null>(null);
  useEffect(() => {
    if (!drag) return;
    const drop = (event: globalThis.KeyboardEvent) => event.key === "Escape" && setDrag(null);
    window.addEventListener("keydown", drop);
    return () => window.removeEventListener("keydown", drop);
  }, [drag]);
  const placeOf = (event: PointerEvent): BoxPoint => {
    const box = event.currentTarget.getBoundingClientRect();
    return {
      x: clamp(event.clientX - box.left, plot.width),
      y: clamp(event.clientY - box.top, plot.height),
      client: { x: event.clientX, y: event.clientY },
    };
  };
  const finish = (done: Drag) => {
    setDrag(null);
    onPlace(null);
    if (isMeant(done)) onBox(snap(boxOf(done)), done.to.client);
    else onClick(done.to);
  };
  const keyDown = (event: KeyboardEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const moved = moveOf(event.key, place, plot, props.step);
    if (moved) {
      const next = { ...moved, client: { x: box.left + moved.x, y: box.top + moved.y } };
      setDrag(event.shiftKey && place ? { from: drag?.from ?? place, to: next } : null);
      onPlace(next);
    } else if (event.key === "Enter" && place) {
      finish(drag ?? { from: place, to: place });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const selected = drag && isMeant(drag) ? snap(boxOf(drag)) : null;
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={`${props.label}. Arrows move, with Shift they select, Enter opens the menu`}
      aria-valuemin={0}
      aria-valuemax={Math.round(plot.width)}
      aria-valuenow={Math.round(place?.x ?? 0)}
      aria-valuetext={props.spoken}
      className={styles.ground}
      style={{ ...plot, cursor: "crosshair", touchAction: "pan-y" }}
      onPointerDown={(event) => {
        if (event.button !== 0 || event.pointerType === "touch") return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = placeOf(event);
        setDrag({ from: at, to: at });
      }}
      onPointerMove={(event) => {
        const at = placeOf(event);
        const next = drag && { ...drag, to: at };
        if (next) setDrag(next);
        onPlace(next && isMeant(next) ? null : at);
      }}
      onPointerUp={(event) => {
        const at = placeOf(event);
        if (event.pointerType === "touch") onClick(at);
        else if (drag) finish({ ...drag, to: at });
      }}
      onPointerCancel={() => setDrag(null)}
      onPointerLeave={(event) => event.pointerType !== "touch" && !drag && onPlace(null)}
      onKeyDown={keyDown}
      onBlur={() => onPlace(null)}
    >
      {props.children}
      {selected && <Selected box={selected} />}
    </div>
  );
}

function Selected({ box }: { box: Box }) {
  const { left, top } = box;
  const size = { width: box.right - left, height: box.bottom - top };
  return <div className={styles.box} style={{ left, top, ...size }} />;
}

function moveOf(key: string, place: BoxPoint | null, plot: Plot, step: { x: number; y: number }) {
  const ways: Record<string, readonly [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  };
  const way = ways[key];
  if (!way) return null;
  // The first key begins in the middle of the plot.
  if (!place) return { x: plot.width / 2, y: plot.height / 2 };
  return {
    x: clamp(place.x + way[0] * step.x, plot.width),
    y: clamp(place.y + way[1] * step.y, plot.height),
  };
}

const clamp = (at: number, most: number) => Math.max(0, Math.min(most - 0.5, at));
