// Units of numbers, known by the ends of names: `latency_us`, `rss_bytes`, `battery_pct`.

import { exact, percent, short } from "./format";

export type Unit = "ns" | "us" | "ms" | "s" | "bytes" | "percent" | "share" | "per second";

/** The units that a person can set, with what they are called. */
export const UNIT_NAMES: readonly (readonly [SetUnit, string])[] = [
  ["none", "no unit"],
  ["ns", "nanoseconds"],
  ["us", "microseconds"],
  ["ms", "milliseconds"],
  ["s", "seconds"],
  ["bytes", "bytes"],
  ["percent", "percent, 0 to 100"],
  ["share", "share, 0 to 1"],
  ["per second", "per second"],
];

const ENDINGS: readonly (readonly [RegExp, Unit])[] = [
  [/[_.-](ns|nanos|nanoseconds)$/i, "ns"],
  [/[_.-](us|micros|microseconds)$/i, "us"],
  [/[_.-](ms|millis|milliseconds)$/i, "ms"],
  [/[_.-](s|sec|secs|seconds)$/i, "s"],
  [/(^|[_.-])bytes$/i, "bytes"],
  [/[_.-](pct|percent)$/i, "percent"],
  [/[_.-](ratio|fraction|share)$/i, "share"],
];

/** The unit that the end of a column's name says; null for none. */
export function unitOfName(name: string): Unit | null {
  return ENDINGS.find(([ending]) => ending.test(name))?.[1] ?? null;
}

/** A unit that was set for a column; `none` for a column that has none, whatever its name. */
export type SetUnit = Unit | "none";

/** The unit of a column: that which was set, otherwise that which its name says; null for none. */
export function unitOfColumn(
  columns: readonly { readonly name: string; readonly unit?: SetUnit }[],
  name: string,
): Unit | null {
  const set = columns.find((column) => column.name === name)?.unit;
  if (set === undefined) return unitOfName(name);
  return set === "none" ? null : set;
}

/** Seconds in one of a unit of time. */
const SECONDS: Partial<Record<Unit, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

/** Units of time as people read them: from how many seconds on, and how many seconds each has. */
const TIMES: readonly (readonly [number, number, string])[] = [
  [7200, 3600, "h"],
  [120, 60, "min"],
  [0.9995, 1, "s"],
  [0.9995e-3, 1e-3, "ms"],
  [0.9995e-6, 1e-6, "µs"],
  [0, 1e-9, "ns"],
];

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** How a number of a unit is shown: divided by `factor`, before `suffix`. */
export interface Shown {
  readonly factor: number;
  readonly suffix: string;
}

/** How a number of a unit is shown that is as large as `size`. */
export function shownAs(unit: Unit | null, size: number): Shown {
  const large = Math.abs(size);
  const second = unit === null ? undefined : SECONDS[unit];
  if (second !== undefined) {
    if (large === 0) return { factor: 1, suffix: unit === "us" ? " µs" : ` ${unit}` };
    const [, seconds, name] = TIMES.find(([from]) => large * second >= from) ?? [0, second, unit];
    return { factor: seconds / second, suffix: ` ${name}` };
  }
  if (unit === "bytes") {
    const step = large < 1 ? 0 : Math.min(Math.floor(Math.log2(large) / 10), BYTES.length - 1);
    return { factor: 1024 ** step, suffix: ` ${BYTES[step]}` };
  }
  if (unit === "percent") return { factor: 1, suffix: " %" };
  if (unit === "share") return { factor: 0.01, suffix: " %" };
  return { factor: 1, suffix: unit === "per second" ? " /s" : "" };
}

/** A number in a few characters with its unit: `553 ms`, `35 KiB`, `3.1 %`, `1.24 M`. */
export function inUnit(value: number, unit: Unit | null): string {
  if (unit === null || !Number.isFinite(value)) return short(value);
  if (unit === "share" && Math.abs(value) > 0.99) return percent(value);
  const { factor, suffix } = shownAs(unit, value);
  const text = (value / factor).toPrecision(3);
  return `${short(Math.abs(value / factor) < 1000 ? Number(text) : value / factor)}${suffix}`;
}

/** A number in full, and in its unit where it has one: `553,412 (553 ms)`. */
export function exactInUnit(value: number | string, unit: Unit | null): string {
  const number = Number(value);
  const text = exact(value);
  return unit === null || Number.isNaN(number) ? text : `${text} (${inUnit(number, unit)})`;
}
