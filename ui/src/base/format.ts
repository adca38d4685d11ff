// Numbers and durations as people read them: a short form for the eye, the exact number for hover.

const PREFIXES = ["", " k", " M", " B", " T", " P"];

/** A number of at most four significant digits: `12,431`, `1.24 M`, `0.0317`, `1.2e19`. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return String(value);
  // Beyond the prefixes that people know, and where zeros would fill the line.
  if (size >= 999.5e15 || (size > 0 && size < 1e-4)) {
    return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
  }
  if (size < 1e4) return trimmed(value, size < 1 ? 3 : 4);
  const step = Math.min(Math.floor(Math.log10(size) / 3), PREFIXES.length - 1);
  const scaled = value / 1000 ** step;
  // 999,999 would read as 1000 k.
  if (Math.abs(Number(scaled.toPrecision(3))) >= 1000 && step < PREFIXES.length - 1) {
    return `${trimmed(value / 1000 ** (step + 1), 3)}${PREFIXES[step + 1]}`;
  }
  return `${trimmed(scaled, 3)}${PREFIXES[step]}`;
}

/** A number of so many digits that matter. Without Intl, whose first use takes long. */
const trimmed = (value: number, digits: number) => exact(Number(value.toPrecision(digits)));

/** All digits of a number, in groups of three. Digits in a text, as big decimals come, stay. */
export function exact(value: number | string): string {
  const text = String(value);
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(text) ?? [];
  if (whole === undefined || rest?.includes("e")) return text;
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${rest}`;
}

/** A whole number in groups of three: `12,431`. */
export function count(value: number): string {
  return exact(Math.round(value));
}

/** How many there are of something: `1 row`, `12,431 rows`. */
export const counted = (value: number, what: string) =>
  `${count(value)} ${what}${value === 1 ? "" : "s"}`;

/** All digits that matter of a number, without the noise of binary fractions. */
export function exactly(value: number): string {
  return exact(Number(value.toPrecision(10))).replace("e+", "e");
}

/** A share as a percentage, never rounded to none or all: `98.7 %`, `99.99 %`, `< 0.1 %`. */
export function percent(fraction: number): string {
  if (fraction === 1) return "100 %";
  if (fraction > 0 && fraction < 0.0005) return "< 0.1 %";
  const shown = (fraction * 100).toFixed(Math.abs(fraction) > 0.99 && fraction < 1 ? 2 : 1);
  return shown === "100.00" ? "99.99 %" : `${shown} %`;
}

/** What a percentile is known to at best: smaller changes of it may be none. */
export const SKETCH_STEP = 0.02;

/**
 * A change as a signed percentage: `+12.3 %`; `×250` where it would be a long one, `≈ same` below
 * what can be told, `new` where there was nothing, `null` where
 * there is nothing to compare with.
 */
export function change(now: number | null, before: number | null, step = 0): string | null {
  if (now === null || before === null) return null;
  if (before === 0) return now === 0 ? "0.0 %" : "new";
  const relative = (now - before) / Math.abs(before);
  if (relative !== 0 && Math.abs(relative) < step) return "≈ same";
  if (relative >= 99.995) return `×${short(1 + relative)}`;
  const shown = Math.abs(relative * 100).toFixed(Math.abs(relative) >= 1 ? 0 : 1);
  if (Number(shown) === 0) return "0.0 %";
  return `${relative > 0 ? "+" : "−"}${shown} %`;
}

// What cannot be seen, or turns the letters after it round; a tab and a new line are but space.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for; joiners within words and emoji are not
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const SPACES: Record<string, string> = { " ": "·", "\t": "→", "\n": "↵" };

/** A text of event data such that all of it is seen: `‹U+202E›`, and `·→↵` for space at its ends. */
export function visible(text: string): string {
  const code = (it: string) =>
    `‹U+${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
  const space = (ends: string) => ends.replace(/\s/g, (it) => SPACES[it] ?? code(it));
  const from = text.length - text.trimStart().length;
  const to = Math.max(from, text.trimEnd().length);
  const inside = text.slice(from, to).replace(UNSEEN, code);
  return space(text.slice(0, from)) + inside + space(text.slice(to));
}

/** The elements of a list in a line; empty ones are seen. Buckets are `from–to: count`. */
export function listText(elements: readonly unknown[]): string {
  if (elements.length === 0) return "(empty)";
  return visible(elements.map(elementText).join(", "));
}

function elementText(element: unknown): string {
  if (!Array.isArray(element)) return element === "" ? "“”" : String(element);
  const [from, to, count] = element;
  return `${from}–${to}: ${count}`;
}

/** Microseconds as a length that people read: `84 ms`, `1.2 s`. */
export function micros(value: number): string {
  if (value < 1000) return `${Math.round(value)} µs`;
  if (value < 1e6) return `${trimmed(value / 1e3, 3)} ms`;
  return `${trimmed(value / 1e6, 3)} s`;
}

/** Bytes: `478 MiB`. */
export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), units.length - 1);
  return `${trimmed(value / 1024 ** step, 3)} ${units[step]}`;
}
