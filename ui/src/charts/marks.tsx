// What charts of groups share: a mark with a value, and the tooltip on it.

import { type PointerEvent, type ReactNode, useState } from "react";
import { change, counted, exactly, percent, SKETCH_STEP } from "../base/format";
import { inUnit, type Unit } from "../base/units";
import { beforeText } from "../query/query";
import { type Point, Tip } from "./echart-tip";

/** One mark of a chart: a bar, a slice, a tile. */
export interface Mark {
  readonly key: string;
  readonly label: string;
  readonly value: number | null;
  /** The value of the compared time; null where there was none. */
  readonly before: number | null;
  readonly colour: string;
  /** The stored rows behind the value. */
  readonly samples: number;
  /** Whether it stands for the groups that are not shown. */
  readonly isOther: boolean;
}

/** What all marks of a chart are measured in. */
export interface Measured {
  readonly label: string;
  readonly unit: Unit | null;
  readonly additive: boolean;
  readonly estimated: boolean;
  /** How much earlier `before` was; empty without a comparison. */
  readonly shift: string;
  /** Of all groups; null if that is not known, or if the measure does not add up. */
  readonly whole: number | null;
}

/** A mark that rests on fewer stored rows is unreliable. */
export const FEW = 10;

/** By how much a mark changed, in words; null if it is not compared. */
export function changeText(mark: Mark, of: Measured): string | null {
  if (of.shift === "") return null;
  if (mark.before === null || mark.before === 0) {
    return mark.value === null || mark.value === 0 ? "–" : "new";
  }
  if (mark.value === null) return "gone";
  return change(mark.value, mark.before, of.estimated ? SKETCH_STEP : 0) ?? "–";
}

/** A mark in words, for who cannot see it. */
export function markText(mark: Mark, of: Measured): string {
  const value = mark.value === null ? "none" : inUnit(mark.value, of.unit);
  const changed = changeText(mark, of);
  return `${mark.label}: ${value} ${of.label}${changed === null ? "" : `, ${changed}`}`;
}

/** The tooltip of the mark under the pointer, and the handlers that a mark needs for it. */
export function useMarkTip(of: Measured): {
  tip: ReactNode;
  over: (
    mark: Mark,
    note?: string,
  ) => {
    onPointerMove: (event: PointerEvent) => void;
    onPointerLeave: () => void;
  };
  clear: () => void;
} {
  const [shown, setShown] = useState<{ mark: Mark; at: Point; note: string } | null>(null);
  return {
    tip: shown && <MarkTip {...shown} of={of} />,
    over: (mark, note = "") => ({
      onPointerMove: (event) => {
        if (event.pointerType === "touch") return;
        setShown({ mark, at: { x: event.clientX, y: event.clientY }, note });
      },
      onPointerLeave: () => setShown(null),
    }),
    clear: () => setShown(null),
  };
}

function MarkTip(props: { mark: Mark; at: Point; note: string; of: Measured }) {
  const { mark, at, note, of } = props;
  const text = (value: number | null) => (value === null ? "–" : exactlyInUnit(value, of.unit));
  const share =
    of.whole !== null && of.whole > 0 && mark.value !== null && mark.value >= 0
      ? `${percent(mark.value / of.whole)} of all · `
      : "";
  const changed = changeText(mark, of);
  const values = [text(mark.value), ...(changed === null ? [] : [text(mark.before), changed])];
  return (
    <Tip
      at={at}
      head={clipped(mark.label)}
      {...(note === "" ? {} : { note })}
      lines={[{ key: mark.key, colour: mark.colour, name: of.label, values, strong: true }]}
      columns={changed === null ? [] : ["", beforeText(of.shift), "change"]}
      foot={
        mark.isOther ? share.replace(" · ", "") : `${share}${counted(mark.samples, "stored row")}`
      }
    />
  );
}

/** All digits that matter, and what they are in their unit. */
const exactlyInUnit = (value: number, unit: Unit | null) =>
  unit === null ? exactly(value) : `${exactly(value)} (${inUnit(value, unit)})`;

const clipped = (text: string) => (text.length > 200 ? `${text.slice(0, 199)}…` : text);

/** The place of the window that a menu of a mark opens at. */
export function placeOf(event: React.MouseEvent | React.KeyboardEvent): Point {
  if ("clientX" in event && (event.clientX !== 0 || event.clientY !== 0)) {
    return { x: event.clientX, y: event.clientY };
  }
  const box = event.currentTarget.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

/** What makes a drawn shape a button, for pointers, keys and screen readers. */
export function buttonOf(label: string, press: (point: Point) => void) {
  return {
    role: "button",
    tabIndex: 0,
    "aria-label": label,
    onClick: (event: React.MouseEvent) => press(placeOf(event)),
    onKeyDown: (event: React.KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      press(placeOf(event));
    },
  } as const;
}
