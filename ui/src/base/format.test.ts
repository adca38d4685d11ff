import { expect, test } from "vitest";
import { bucketFor, durationMs, durationText } from "./duration";
import {
  bytes,
  change,
  count,
  counted,
  exact,
  listText,
  micros,
  percent,
  short,
  visible,
} from "./format";
import { timeText, unzoned, zoned } from "./zone";

test("numbers are short for the eye and exact on request", () => {
  expect([0, 7, 0.03171, 999.96, 9999, 12_431, 999_999, 1.24e9, -5e6, 3e17].map(short)).toEqual([
    "0",
    "7",
    "0.0317",
    "1,000",
    "9,999",
    "12.4 k",
    "1 M",
    "1.24 B",
    "-5 M",
    "300 P",
  ]);
  expect(["12345678901234567890.5", "-1234", "1e21", "0.5"].map(exact)).toEqual([
    "12,345,678,901,234,567,890.5",
    "-1,234",
    "1e21",
    "0.5",
  ]);
});

test("numbers of any size stay short", () => {
  const sizes = [1.2e19, 1e300, -1e300, 999.9e15, 9.994e17, 1e-300, 3.17e-5, 0.00012];
  expect(sizes.map(short)).toEqual([
    "1.2e19",
    "1e300",
    "-1e300",
    "1e18",
    "999 P",
    "1e-300",
    "3.17e-5",
    "0.00012",
  ]);
  expect([1e300, -1234.5, 12_431].map(count)).toEqual(["1e+300", "-1,234", "12,431"]);
  expect(change(1e300, 1)).toBe("×1e300");
});

test("a change that cannot be told from none is none", () => {
  expect([change(1000, 1000.2), change(999.9, 1000), change(1, 1)]).toEqual([
    "0.0 %",
    "0.0 %",
    "0.0 %",
  ]);
  expect([change(102, 100, 0.02), change(101, 100, 0.02), change(100, 100, 0.02)]).toEqual([
    "+2.0 %",
    "≈ same",
    "0.0 %",
  ]);
});

test("nothing in a text is out of sight", () => {
  expect(visible(" a b  ")).toBe("·a b··");
  expect(["\n", "\tb \n", "\u00a0"].map(visible)).toEqual(["↵", "→b·↵", "‹U+00A0›"]);
  const long = `a${" ".repeat(300_000)}b`;
  expect(visible(long)).toBe(long);
  expect(visible("exe\u202Egpj.x\u0000")).toBe("exe‹U+202E›gpj.x‹U+0000›");
  expect(visible("two\nlines\tand ü, 日本, 👩‍👩")).toBe("two\nlines\tand ü, 日本, 👩‍👩");
});

test("one is no plural", () => {
  expect([0, 1, 1200].map((it) => counted(it, "row"))).toEqual(["0 rows", "1 row", "1,200 rows"]);
});

test("a share is only whole when all is there", () => {
  expect([1, 0.999999, 0.987, 0.5, 0].map(percent)).toEqual([
    "100 %",
    "99.99 %",
    "98.7 %",
    "50.0 %",
    "0.0 %",
  ]);
});

test("what was nothing before is new, unless it still is nothing", () => {
  expect([change(3, 0), change(-1, 0), change(0, 0)]).toEqual(["new", "new", "0.0 %"]);
});

test("changes, lengths and sizes", () => {
  expect([change(11, 10), change(5, 10), change(30, 10), change(1, 0), change(null, 1)]).toEqual([
    "+10.0 %",
    "−50.0 %",
    "+200 %",
    "new",
    null,
  ]);
  expect([84, 84_000, 1_234_567].map(micros)).toEqual(["84 µs", "84 ms", "1.23 s"]);
  expect([0, 512, 501_219_328].map(bytes)).toEqual(["0 B", "512 B", "478 MiB"]);
});

test("lengths of time", () => {
  expect([durationMs("1d12h"), durationMs("90s"), durationMs("1 d"), durationMs("")]).toEqual([
    129_600_000,
    90_000,
    null,
    null,
  ]);
  expect([durationText(90_000), durationText(3_600_000), durationText(172_800_000)]).toEqual([
    "90s",
    "1h",
    "2d",
  ]);
  expect([bucketFor(86_400_000, 180), bucketFor(60_000, 180), bucketFor(4e12, 180)]).toEqual([
    "10m",
    "1s",
    "364d",
  ]);
});

test("wall clocks of zones there and back, summer time included", () => {
  for (const zone of ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"]) {
    for (const text of [
      "2026-03-29T00:30:00Z",
      "2026-07-01T12:00:00.250Z",
      "2026-11-01T10:00:00Z",
    ]) {
      const ms = Date.parse(text);
      expect(unzoned(zoned(ms, zone), zone), `${zone} ${text}`).toBe(ms);
    }
  }
  expect(timeText(Date.parse("2026-07-01T12:00:00Z"), "Europe/Berlin")).toBe("2026-07-01 14:00:00");
});

test("lists and histograms are a line of text", () => {
  expect(listText([])).toBe("(empty)");
  expect(listText(["/a: 3", ""])).toBe("/a: 3, “”");
  expect(
    listText([
      [0, 10, 4],
      [10, 100, "3"],
    ]),
  ).toBe("0–10: 4, 10–100: 3");
});
