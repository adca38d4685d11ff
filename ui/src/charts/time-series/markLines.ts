// Marks in time, such as deploys, as vertical lines of a chart.

import type { ChartTheme } from "../echart";
import { type VerticalLine, verticalLines } from "../echart-lines";

/** Something that happened at a moment. */
export interface TimeMark {
  /** In milliseconds. */
  readonly at: number;
  readonly label: string;
}

/** More marks than these have no room for their labels. */
const LABELLED_MARKS = 12;
const LABEL_LETTERS = 24;

/** A vertical line for each mark. */
export function markLines(marks: readonly TimeMark[], theme: ChartTheme) {
  const stroke = { color: theme.text, dash: [4, 3], opacity: 0.7 };
  const look = { color: theme.text, font: `10px ${theme.font}`, place: "along" } as const;
  const lines = marks.map(({ at, label }): VerticalLine => {
    const text = label.length > LABEL_LETTERS ? `${label.slice(0, LABEL_LETTERS)}…` : label;
    const labelled = marks.length <= LABELLED_MARKS;
    return { at, stroke, ...(labelled ? { label: { ...look, text } } : {}) };
  });
  return verticalLines("marks", lines, 2000);
}
