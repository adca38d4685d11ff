// Vertical lines over the whole height of a plot, with or without a label at the top.

type Align = "left" | "center" | "right";

/** A line, in the units of the horizontal axis. */
export interface VerticalLine {
  readonly at: number;
  /** Left out, only the label is drawn. */
  readonly stroke?: { readonly color: string; readonly dash?: number[]; readonly opacity?: number };
  readonly label?: {
    readonly text: string;
    readonly color: string;
    readonly font: string;
    /** Along the line, below the plot's top; or above that top by so many pixels. */
    readonly place: "along" | { readonly above: number; readonly align: Align };
  };
}

interface Api {
  value: (at: number) => number;
  coord: (point: [number, number]) => [number, number];
}

interface Params {
  readonly dataIndex: number;
  readonly coordSys: { x: number; y: number; width: number; height: number };
}

/** A series of lines; those outside of the plot are left out. */
export function verticalLines(id: string, lines: readonly VerticalLine[], z: number) {
  return {
    id,
    type: "custom",
    silent: true,
    z,
    data: lines.map(({ at }) => [at]),
    encode: { x: 0, y: [] },
    renderItem: ({ dataIndex, coordSys }: Params, { value, coord }: Api) => {
      const line = lines[dataIndex];
      const [x] = coord([value(0), 0]);
      // A line at an end of the plot may be less than a pixel outside of it.
      const outside = Math.max(coordSys.x - x, x - coordSys.x - coordSys.width);
      return line && outside < 1 ? drawn(line, x, coordSys) : null;
    },
  };
}

function drawn({ stroke, label }: VerticalLine, at: number, plot: Params["coordSys"]) {
  // A line of one pixel covers one column of pixels.
  const x = Math.floor(at) + 0.5;
  const line = stroke && {
    type: "line",
    shape: { x1: x, y1: plot.y, x2: x, y2: plot.y + plot.height },
    style: {
      stroke: stroke.color,
      lineWidth: 1,
      lineDash: stroke.dash ?? null,
      opacity: stroke.opacity ?? 1,
    },
  };
  return { type: "group", children: [line, label && labelOf(label, at, plot.y)].filter(Boolean) };
}

function labelOf(label: NonNullable<VerticalLine["label"]>, x: number, top: number) {
  const { text, color, font, place } = label;
  const along = place === "along";
  return {
    type: "text",
    x: along ? x - 2 : x,
    y: along ? top + 4 : top - place.above,
    // Read from below.
    rotation: along ? Math.PI / 2 : 0,
    style: {
      text,
      fill: color,
      font,
      align: along ? "right" : place.align,
      verticalAlign: "bottom",
    },
  };
}
