// Colours of cells: from the ground to strong; of changes, blue for more and orange for less.

type Rgb = readonly [number, number, number];

const LIGHT: readonly Rgb[] = [
  [232, 241, 252],
  [128, 178, 232],
  [47, 105, 190],
  [10, 36, 74],
];
const DARK: readonly Rgb[] = [
  [34, 48, 68],
  [41, 94, 170],
  [106, 168, 240],
  [226, 240, 255],
];
const LESS_LIGHT: readonly Rgb[] = [
  [253, 240, 226],
  [240, 170, 92],
  [196, 98, 16],
  [104, 46, 4],
];
const LESS_DARK: readonly Rgb[] = [
  [62, 46, 32],
  [158, 88, 22],
  [236, 146, 58],
  [255, 226, 192],
];

/** The colour of a strength from 0 to 1, or from -1 to 1 where changes are drawn. */
export function cellColour(strength: number, changes: boolean, dark: boolean): string {
  const less = changes && strength < 0;
  const ramp = less ? (dark ? LESS_DARK : LESS_LIGHT) : dark ? DARK : LIGHT;
  const at = Math.min(1, Math.abs(strength)) * (ramp.length - 1);
  const place = Math.min(ramp.length - 2, Math.floor(at));
  const [low, high] = [ramp[place], ramp[place + 1]];
  const mix = (part: 0 | 1 | 2) =>
    Math.round((low?.[part] ?? 0) + ((high?.[part] ?? 0) - (low?.[part] ?? 0)) * (at - place));
  const hex = (part: 0 | 1 | 2) => mix(part).toString(16).padStart(2, "0");
  return `#${hex(0)}${hex(1)}${hex(2)}`;
}
