// The slices of a ring.

import { OTHER_COLOUR } from "../../base/colours";
import type { Mark } from "../marks";

export interface Slice {
  readonly mark: Mark;
  /** Of the whole, from 0 to 1. */
  readonly share: number;
  /** Of a turn, clockwise from the top. */
  readonly from: number;
  readonly to: number;
}

/** Beyond these many slices nobody tells them apart. */
export const SLICES_MOST = 12;

/** The largest marks, each with its slice of the ring; those beyond are one slice. */
export function slicesOf(marks: readonly Mark[], most: number = SLICES_MOST): Slice[] {
  const positive = marks.filter(({ value }) => (value ?? 0) > 0);
  const whole = positive.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const named = positive.filter(({ isOther }) => !isOther);
  const shown = named.slice(0, named.length > most ? most - 1 : most);
  const rest = [...named.slice(shown.length), ...positive.filter(({ isOther }) => isOther)];
  const [first] = rest;
  const other: Mark[] = first
    ? [
        {
          ...first,
          key: "other",
          label: "Other",
          isOther: true,
          colour: OTHER_COLOUR,
          value: sum(rest.map(({ value }) => value)),
          before: rest.some(({ before }) => before !== null)
            ? sum(rest.map(({ before }) => before))
            : null,
        },
      ]
    : [];
  let at = 0;
  return [...shown, ...other].map((mark) => {
    const share = whole > 0 ? (mark.value ?? 0) / whole : 0;
    const from = at;
    at += share;
    return { mark, share, from, to: at };
  });
}

const sum = (values: readonly (number | null)[]) =>
  values.reduce<number>((total, it) => total + (it ?? 0), 0);

/** A part of a ring as a path of SVG around 0, 0. A full turn needs two arcs. */
export function ringPath(from: number, to: number, inner: number, outer: number): string {
  const end = Math.min(to, from + 0.999_99);
  const point = (turn: number, radius: number) => {
    const angle = turn * 2 * Math.PI;
    return `${(Math.sin(angle) * radius).toFixed(2)} ${(-Math.cos(angle) * radius).toFixed(2)}`;
  };
  const large = end - from > 0.5 ? 1 : 0;
  return [
    `M${point(from, outer)}`,
    `A${outer} ${outer} 0 ${large} 1 ${point(end, outer)}`,
    `L${point(end, inner)}`,
    `A${inner} ${inner} 0 ${large} 0 ${point(from, inner)}`,
    "Z",
  ].join("");
}
