// Numbers and lengths of time as people read them. A short form for the eye, the exact one for hover.

const PREFIXES = ["", " k", " M", " B", " T", " P"];

/** A number of at most four significant digits: `12,431`, `1.24 M`, `0.0317`. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return String(value);
  if (size < 1e4) return trimmed(value, size < 1 ? 3 : 4);
  const step = Math.min(Math.floor(Math.log10(size) / 3), PREFIXES.length - 1);
  const scaled = value / 1000 ** step;
  // 999,999 would read as 1000 k.
  if (Math.abs(Number(scaled.toPrecision(3))) >= 1000 && step < PREFIXES.length - 1) {
    return `${trimmed(value / 1000 ** (step + 1), 3)}${PREFIXES[step + 1]}`;
  }
  return `${trimmed(scaled, 3)}${PREFIXES[step]}`;
}

function trimmed(value: number, digits: number): string {
  return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

/** All digits of a number, in groups of three. Digits in a text, as big decimals come, stay. */
export function exact(value: number | string): string {
  const text = String(value);
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(text) ?? [];
  if (whole === undefined || rest?.includes("e")) return text;
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${rest}`;
}

/** A whole number in groups of three: `12,431`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A share as a percentage, never rounded up to 100 %: `98.7 %`, `99.99 %`. */
export function percent(fraction: number): string {
  if (fraction === 1) return "100 %";
  const shown = (fraction * 100).toFixed(Math.abs(fraction) > 0.99 && fraction < 1 ? 2 : 1);
  return shown === "100.00" ? "99.99 %" : `${shown} %`;
}

/** A change as a signed percentage: `+12.3 %`; `null` where there is nothing to compare with. */
export function change(now: number | null, before: number | null): string | null {
  if (now === null || before === null || before === 0) return null;
  const relative = (now - before) / Math.abs(before);
  const digits = Math.abs(relative) >= 1 ? 0 : 1;
  return `${relative >= 0 ? "+" : "−"}${Math.abs(relative * 100).toFixed(digits)} %`;
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
