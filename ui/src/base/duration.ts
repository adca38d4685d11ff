// Lengths of time as the query language writes them: `90s`, `15m`, `3h`, `7d`, `2w`.

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Longer than any range of moments that have a year of four digits. */
const LONGEST_MS = 1e14;

/** The milliseconds of a length such as `15m` or `1d12h`; null if it is none, or an absurd one. */
export function durationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?[smhdw])+$/.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)([smhdw])/g)) {
    total += Number(amount) * (SECONDS[unit ?? "s"] ?? 1) * 1000;
  }
  return total <= LONGEST_MS ? total : null;
}

/** A length such as `15m` in the largest unit that is whole; the opposite of `durationMs`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  for (const unit of ["d", "h", "m"]) {
    const size = SECONDS[unit] ?? 1;
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

/** A length in words: `15 minutes`, `1 hour`, `7 days`; the text itself if it is none. */
export function durationWords(text: string): string {
  const [, amount, unit] = /^(\d+)([smhdw])$/.exec(text) ?? [];
  const names: Record<string, string> = {
    s: "second",
    m: "minute",
    h: "hour",
    d: "day",
    w: "week",
  };
  if (amount === undefined || unit === undefined) return text;
  return `${amount} ${names[unit]}${amount === "1" ? "" : "s"}`;
}

const STEPS = ["1s", "2s", "5s", "10s", "15s", "30s", "1m", "2m", "5m", "10m", "15m", "30m"].concat(
  ["1h", "2h", "3h", "6h", "12h", "1d", "7d", "28d", "364d"],
);

/** The shortest round length of time that fits at most `most` times into a range. */
export function bucketFor(rangeMs: number, most: number): string {
  const fits = STEPS.find((step) => rangeMs / (durationMs(step) ?? 1) <= most);
  return fits ?? `${364 * Math.ceil(rangeMs / most / (364 * 86_400_000))}d`;
}

/** A length of time in its two largest units that matter: `8 s`, `3 min 20 s`, `2 h 5 min`, `4 d`. */
export function spanWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24];
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (one: string, other: number, unit: string) =>
    other === 0 ? one : `${one} ${other} ${unit}`;
  if (days > 0) return two(`${days} d`, hours, "h");
  if (hours > 0) return two(`${hours} h`, minutes, "min");
  return minutes > 0 ? two(`${minutes} min`, rest, "s") : `${rest} s`;
}
