// Colours of series. Ten that people with any kind of colour vision can tell apart on white and on
// black (after Okabe and Ito 2008, and Paul Tol's "bright"), given by name so that a series keeps
// its colour while others come and go.

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

/**
 * A colour for each name: the one its text asks for, or the next free one; some are shared when
 * there are more names than colours.
 */
export function coloursOf(names: readonly string[]): Map<string, string> {
  const taken = new Set<number>();
  const colours = new Map<string, string>();
  const [alone] = names;
  if (names.length === 1 && alone !== undefined)
    return colours.set(alone, PALETTE[0] ?? OTHER_COLOUR);
  for (const name of names) {
    if (taken.size === PALETTE.length) taken.clear();
    let place = hash(name) % PALETTE.length;
    while (taken.has(place)) place = (place + 1) % PALETTE.length;
    taken.add(place);
    colours.set(name, PALETTE[place] ?? OTHER_COLOUR);
  }
  return colours;
}
