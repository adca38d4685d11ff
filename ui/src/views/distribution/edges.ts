// Where the bars of a distribution begin and end: at round numbers, so that no bar is cut by the
// range that is asked.

import { roundStep } from "../../base/roundStep";

/** From here on, p99 over p50, equal bars put nearly all values into the first one. */
export const LONG_TAIL = 30;
const BARS = 60;
/** So many whole numbers have a bar each: 0 to 100, for one. */
const WHOLE = 120;
/** Beyond, doubles do not hold every edge. */
const LARGEST = 2 ** 50;

export interface Edges {
  /** Each bar contains its lower edge, and not its upper one. */
  readonly edges: readonly number[];
  readonly log: boolean;
}

export interface EndsOfValues {
  /** The values between which is drawn. */
  readonly low: number;
  readonly high: number;
  readonly p50: number | null;
  readonly p99: number | null;
  /** Whether all values are whole numbers. */
  readonly whole: boolean;
}

/** Whether a logarithmic axis shows more of these values than a linear one. */
export const isLongTailed = ({ low, p50, p99 }: EndsOfValues): boolean =>
  low > 0 && p50 !== null && p99 !== null && p50 > 0 && p99 / p50 > LONG_TAIL;

/**
 * The edges of at most about 60 bars that contain both ends; whole numbers of a short range have a
 * bar each, in whose middle they are. Null where there is but one value, or a number too large.
 */
export function edgesOf(values: EndsOfValues, wantsLog: boolean): Edges | null {
  const { low, high, whole } = values;
  if (!(low < high) || Math.max(Math.abs(low), Math.abs(high)) > LARGEST) return null;
  if (wantsLog && low > 0) return { edges: logEdges(low, high), log: true };
  if (whole && high - low <= WHOLE) return { edges: wholeEdges(low, high), log: false };
  const width = Math.max(whole ? 1 : 0, roundStep(high - low, BARS));
  const [first, last] = [Math.floor(low / width + 1e-9), Math.floor(high / width + 1e-9) + 1];
  const decimals = Math.min(100, Math.max(0, Math.ceil(-Math.log10(width) - 1e-9)));
  const edge = (place: number) => Number((place * width).toFixed(decimals));
  return {
    edges: Array.from({ length: last - first + 1 }, (_, at) => edge(first + at)),
    log: false,
  };
}

function wholeEdges(low: number, high: number): number[] {
  const first = Math.ceil(low);
  return Array.from({ length: Math.floor(high) - first + 2 }, (_, at) => first + at - 0.5);
}

/** Round numbers of one decade, about equally far apart (the series R10 of ISO 3). */
const R10 = [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8];
const FEWER = [1, 2, 5];

function logEdges(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1];
  const series = (Math.log10(high) - Math.log10(low)) * R10.length > BARS ? FEWER : R10;
  const all: number[] = [];
  for (let power = first; power <= last; power++) {
    for (const step of series) all.push(Number(`${step}e${power}`));
  }
  const from = all.findLastIndex((edge) => edge <= low);
  const to = all.findIndex((edge) => edge > high);
  return all.slice(Math.max(0, from), to + 1);
}
