// The coverage of a cluster over the last minutes: its scale and its line.

/** One moment: where it is from the left in percent, and the coverage from 0 to 1. */
export interface LinePoint {
  x: number;
  coverage: number;
}

/** The lowest values that a scale may begin with; each reads well in percent. */
const FLOORS = [0.99, 0.95, 0.9, 0.8, 0.5, 0];

/** The lowest value of the scale, with room beneath the line. */
export function floorOf(points: readonly LinePoint[]): number {
  const lowest = Math.min(1, ...points.map((point) => point.coverage));
  return FLOORS.find((floor) => lowest >= floor + (1 - floor) / 10) ?? 0;
}

/** Values that get a line across: the top, the middle and the floor. */
export const gridOf = (floor: number): number[] => [1, (1 + floor) / 2, floor];

/** A value of the grid: `99.5 %`. */
export const gridWords = (value: number) => `${Number((value * 100).toFixed(1))} %`;

/** How far down a value is drawn, from 0 to 1. */
export const downOf = (coverage: number, floor: number) =>
  Math.min(1, Math.max(0, (1 - coverage) / (1 - floor)));

/** Pieces of the line: moments further apart than `gap` percent are not connected. */
export function piecesOf(points: readonly LinePoint[], gap: number): LinePoint[][] {
  const pieces: LinePoint[][] = [];
  for (const point of points) {
    const piece = pieces.at(-1);
    const last = piece?.at(-1);
    if (piece && last && point.x - last.x <= gap) piece.push(point);
    else pieces.push([point]);
  }
  return pieces;
}

/** A piece as the path of an SVG of this size; it steps, since each value holds until the next. */
export function pathOf(piece: readonly LinePoint[], floor: number, width: number, height: number) {
  const at = ({ x, coverage }: LinePoint) =>
    [(x / 100) * width, downOf(coverage, floor) * height].map((it) => it.toFixed(1));
  return piece
    .map((point, index) => {
      const [x, y] = at(point);
      return index === 0 ? `M${x},${y}` : `H${x}V${y}`;
    })
    .join("");
}
