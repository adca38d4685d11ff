// Marks in time, such as deploys, as vertical lines of a chart.

import type { ChartTheme } from "../echart";

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
  return {
    id: "marks",
    type: "line",
    data: [],
    z: 2000,
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: theme.text, type: [4, 3], width: 1, opacity: 0.7 },
      label: {
        show: marks.length <= LABELLED_MARKS,
        position: "insideEndTop",
        color: theme.text,
        fontSize: 10,
        fontFamily: theme.font,
        formatter: ({ name }: { name: string }) => name,
      },
      data: marks.map(({ at, label }) => ({
        xAxis: at,
        name: label.length > LABEL_LETTERS ? `${label.slice(0, LABEL_LETTERS)}…` : label,
      })),
    },
  };
}
