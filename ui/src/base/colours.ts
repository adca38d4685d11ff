// Colours of series: ten colours that people with any kind of colour vision can tell apart on white
// and on black (after Okabe and Ito 2008, and Paul Tol's "bright"). They are assigned by name, so
// that a series keeps its colour while other series appear and disappear.

const PALETTE = [
  "#3b7dd8",
  "#e08214",
  "#2a9d74",
  "#c44e9b",
  "#7f6fd0",
  "#d1495b",
  "#5aa9c7",
  "#a68a1d",
  "#7a9a34",
  "#8d6e63",
];

/** What sums up the series beyond the limit. */
export const OTHER_COLOUR = "#8a929c";

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619);
  return value >>> 0;
}

/** How the line of a series is drawn. */
export interface Stroke {
  readonly colour: string;
  /** Lengths of dashes and of gaps, in pixels; null for a whole line. */
  readonly dashes: readonly number[] | null;
}

// With more series than colours, dashes and shades distinguish series of one colour.
const LONG = [9, 4];
const ROUNDS: readonly { dashes: readonly number[] | null; shade: number }[] = [
  { dashes: null, shade: 0 },
  { dashes: LONG, shade: 0 },
  { dashes: null, shade: -0.45 },
  { dashes: LONG, shade: -0.45 },
  { dashes: [9, 3, 2, 3], shade: 0.4 },
];

/** The colour of a text on a colour: black or white, whichever contrasts more (WCAG 2.2). */
export function textOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  // Where both contrast alike: (1 + 0.05) / (x + 0.05) = (x + 0.05) / 0.05.
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

/** A colour mixed with white (towards 1) or with black (towards -1). */
function shaded(colour: string, shade: number): string {
  const towards = shade > 0 ? 255 : 0;
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const mixed = parts.map((it) => Math.round(it + (towards - it) * Math.abs(shade)));
  return `#${mixed.map((it) => it.toString(16).padStart(2, "0")).join("")}`;
}

/** A stroke for each name: the colour that its text asks for, or the next free one. */
export function strokesOf(names: readonly string[]): Map<string, Stroke> {
  const taken = new Set<number>();
  const strokes = new Map<string, Stroke>();
  names.forEach((name, at) => {
    if (taken.size === PALETTE.length) taken.clear();
    let place = names.length === 1 ? 0 : hash(name) % PALETTE.length;
    while (taken.has(place)) place = (place + 1) % PALETTE.length;
    taken.add(place);
    const round = ROUNDS[Math.floor(at / PALETTE.length) % ROUNDS.length];
    const colour = shaded(PALETTE[place] ?? OTHER_COLOUR, round?.shade ?? 0);
    strokes.set(name, { colour, dashes: round?.dashes ?? null });
  });
  return strokes;
}
