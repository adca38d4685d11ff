// The leaves of a rollover over time as stacked areas.

/** Leaves at one moment: where it is from the left in percent, and how many are in each stage. */
export interface StackPoint {
  x: number;
  counts: readonly [old: number, rolling: number, new_: number];
}

/** From the top to the bottom of the picture. */
export const STAGES = ["old", "rolling", "new"] as const;

export type Stage = (typeof STAGES)[number];

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

/** The most leaves at any moment; at least one. */
export const mostOf = (points: readonly StackPoint[]) =>
  Math.max(1, ...points.map(({ counts }) => sum(counts)));

/** The area of a stage as the path of an SVG of this size; it steps, since each value holds until
 * the next. The last value holds until the right edge. */
export function areaOf(
  points: readonly StackPoint[],
  stage: number,
  width: number,
  height: number,
): string {
  const most = mostOf(points);
  // The stages beneath this one, and with it.
  const down = (count: number) => ((1 - count / most) * height).toFixed(1);
  const edge = (from: number) =>
    points.map(({ x, counts }) => [x, sum(counts.slice(from))] as const);
  const [upper, lower] = [edge(stage), edge(stage + 1)];
  const place = (x: number) => ((x / 100) * width).toFixed(1);
  const first = upper[0];
  if (!first) return "";
  const there = upper.map(([x, count]) => `H${place(x)}V${down(count)}`).join("");
  const ends = lower.map((_, index) => place(lower[index + 1]?.[0] ?? 100));
  const back = lower
    .map(([, count], index) => `H${ends[index]}V${down(count)}`)
    .reverse()
    .join("");
  return `M${place(first[0])},${down(first[1])}${there}${back}H${place(first[0])}Z`;
}
