// Lengths of a selected time as people say them.

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
];

/** `42 minutes`, `1 hour 30 minutes`, `3 days 4 hours`: the two largest units. */
export function lengthWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  let rest = Math.round(ms / 1000) * 1000;
  const words: string[] = [];
  for (const [size, name] of UNITS) {
    const amount = Math.floor(rest / size);
    if (amount > 0 && words.length < 2) words.push(`${amount} ${name}${amount === 1 ? "" : "s"}`);
    else if (words.length > 0) break;
    rest -= amount * size;
  }
  return words.join(" ");
}
