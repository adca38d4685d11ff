// Round numbers for scales and bars.

/** The round step that fits about `most` times in a length. */
export function roundStep(length: number, most: number): number {
  const rough = length / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((it) => it * power >= rough * 0.999) ?? 10;
  return factor * power;
}
