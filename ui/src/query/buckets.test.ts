import { expect, test } from "vitest";
import { bucketAt, bucketStart, bucketsOf, earlier, wholeBuckets } from "./buckets";

const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);
const BERLIN = "Europe/Berlin";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

// The right values are those of tests/slt/files/zones.slt.
test("days begin at midnight of the zone, and have 23 to 25 hours", () => {
  const range = { from: at("2026-03-28T23:30Z"), to: at("2026-03-30T22:00Z") };
  const days = bucketsOf(range, "1d", BERLIN);
  expect(days.starts.map(iso)).toEqual(["2026-03-28T23:00", "2026-03-29T22:00"]);
  expect(iso(days.end)).toBe("2026-03-30T22:00");
  const utc = bucketsOf(range, "1d");
  expect(utc.starts.map(iso)).toEqual(["2026-03-28T00:00", "2026-03-29T00:00", "2026-03-30T00:00"]);
});

test("weeks begin on a Monday", () => {
  // 2026-11-16 was one.
  const noon = at("2026-11-18T12:00Z");
  expect(iso(bucketStart(noon, "7d"))).toBe("2026-11-16T00:00");
  expect(iso(bucketStart(noon, "7d", BERLIN))).toBe("2026-11-15T23:00");
});

test("an hour that comes twice has two buckets, and more hours are longer", () => {
  const hours = ["2026-10-25T00:30Z", "2026-10-25T01:30Z"].map((it) =>
    iso(bucketStart(at(it), "1h", BERLIN)),
  );
  expect(hours).toEqual(["2026-10-25T00:00", "2026-10-25T01:00"]);
  const of = (text: string) => iso(bucketStart(at(text), "6h", BERLIN));
  expect(of("2026-03-29T01:30Z")).toBe("2026-03-28T23:00");
  expect(of("2026-10-25T01:30Z")).toBe("2026-10-24T22:00");
  expect(of("2026-10-25T22:59Z")).toBe("2026-10-25T17:00");
});

test("other lengths are those of UTC", () => {
  const noon = at("2026-11-18T12:07Z");
  expect(bucketStart(noon, "10m", "Asia/Kolkata")).toBe(bucketStart(noon, "10m"));
  expect(bucketStart(noon, "5h", BERLIN)).toBe(bucketStart(noon, "5h"));
});

test("a moment has one bucket, or none", () => {
  const days = bucketsOf(
    { from: at("2026-03-28T23:00Z"), to: at("2026-03-30T22:00Z") },
    "1d",
    BERLIN,
  );
  const of = (text: string) => bucketAt(days, at(text));
  expect(of("2026-03-28T22:59Z")).toBe(-1);
  expect(of("2026-03-28T23:00Z")).toBe(0);
  expect(of("2026-03-29T21:59Z")).toBe(0);
  expect(of("2026-03-29T22:00Z")).toBe(1);
  expect(of("2026-03-30T22:00Z")).toBe(-1);
  expect(bucketAt(days, Number.NaN)).toBe(-1);
});

test("whole days earlier, the clock shows the same time", () => {
  const noon = at("2024-04-02T10:00Z");
  expect(iso(earlier(noon, 7 * DAY, BERLIN))).toBe("2024-03-26T11:00");
  expect(iso(earlier(noon, 7 * DAY))).toBe("2024-03-26T10:00");
  expect(iso(earlier(noon, 5 * HOUR, BERLIN))).toBe("2024-04-02T05:00");
});

test("a previous period has whole buckets", () => {
  const [from, to] = [at("2026-03-28T23:00Z"), at("2026-03-30T10:00Z")];
  expect(wholeBuckets(from, to, "10m", BERLIN)).toBe(35 * HOUR);
  expect(wholeBuckets(from, to, "6h")).toBe(36 * HOUR);
  expect(wholeBuckets(from, to, "6h", BERLIN)).toBe(2 * DAY);
});
