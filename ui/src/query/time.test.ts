import { expect, test } from "vitest";
import { defaultQuery } from "./query";
import { compareProblem, seriesRange } from "./spec";
import { bucketOf, FULL_RANGE, moment, rangeOf, rangeWithData, stepRange } from "./time";

const NOW = Date.parse("2026-11-21T12:34:56.789Z");
const DAY = 86_400_000;
const table = (first: string | null, last: string | null) => ({
  name: "t",
  rows: 1,
  column_count: 1,
  time_column: "time",
  first_time: first,
  last_time: last,
  age_limit_days: 30,
  blocks: 1,
  block_bytes: 1,
  raw_bytes: 1,
  dropped_rows: 0,
  dropped_until: null,
  lost_rows: 0,
  waiting_rows: 0,
  state: "alive",
});

test("moments are relative, ISO 8601 or Unix seconds", () => {
  expect(moment("now", NOW)).toBe(NOW);
  expect(moment("-1d12h", NOW)).toBe(NOW - 1.5 * DAY);
  expect(moment("now-15m", NOW)).toBe(NOW - 900_000);
  expect(moment("1700000000", NOW)).toBe(1_700_000_000_000);
  expect(moment("2026-11-20 12:00", NOW)).toBe(Date.parse("2026-11-20T12:00:00Z"));
  expect(moment("2026-11-20T12:00:00+02:00", NOW)).toBe(Date.parse("2026-11-20T10:00:00Z"));
  expect(moment("yesterday-ish", NOW)).toBeNull();
});

test("a table opens where its data is", () => {
  const iso = (ago: number) => new Date(NOW - ago).toISOString();
  expect(rangeWithData(table(iso(20 * DAY), iso(1000)), NOW)).toEqual({ from: "-1d", to: "now" });
  // A range such as -15m would be empty a quarter of an hour later.
  expect(rangeWithData(table(iso(600_000), iso(0)), NOW)).toEqual(FULL_RANGE);
  expect(rangeWithData(table("2001-01-01T00:00:00Z", "2001-06-30T00:00:00Z"), NOW)).toEqual(
    FULL_RANGE,
  );
});

test("all of a table reaches from its first row to its last, or to now while rows come", () => {
  const query = { ...defaultQuery("t"), ...FULL_RANGE };
  const [first, last] = ["2001-01-01T00:00:00Z", "2001-06-30T00:00:00Z"];
  const end = Date.parse(last) + 1;
  expect(rangeOf(query, NOW, table(first, last))).toEqual({ from: Date.parse(first), to: end });
  const living = table(first, new Date(NOW - 5000).toISOString());
  expect(rangeOf(query, NOW, living)).toEqual({ from: Date.parse(first), to: NOW });
  const moment = Date.parse("2001-01-01T00:00:30Z");
  const one = table("2001-01-01T00:00:30Z", "2001-01-01T00:00:30Z");
  expect(rangeOf(query, NOW, one)).toEqual({ from: moment - 29_999, to: moment + 30_000 });
  expect(rangeOf(query, NOW, table(null, null))).toEqual({ from: NOW - DAY, to: NOW });
  expect(rangeOf(query, NOW)).toBeNull();
});

test("series begin where a bucket does, and fit the comparison", () => {
  const query = { ...defaultQuery("t"), from: "-7d", compare: "7d" };
  const range = rangeOf(query, NOW) ?? { from: 0, to: 0 };
  const resolved = { query, columns: [], range };
  const { range: narrow, bucket } = seriesRange(resolved);
  expect(bucket).toBe("1h");
  expect(narrow.from % 3_600_000).toBe(0);
  expect(narrow.to - narrow.from).toBeLessThanOrEqual(7 * DAY);
  expect(compareProblem({ ...resolved, query: { ...query, compare: "1d" } })).toMatch(
    /longer than 1d/,
  );
});

test("too fine a bucket gives way", () => {
  const query = { ...defaultQuery("t"), bucket: "1s" };
  expect(bucketOf(query, { from: NOW - DAY, to: NOW })).toBe("10m");
  expect(bucketOf(query, { from: NOW - 60_000, to: NOW })).toBe("1s");
  expect(bucketOf(query, { from: NOW - 199 * DAY, to: NOW })).toBe("1d");
  expect(bucketOf(query, { from: NOW - 500 * DAY, to: NOW })).toBe("7d");
});

test("steps keep the length", () => {
  const earlier = rangeOf(stepRange({ ...defaultQuery("t"), from: "-1h" }, NOW, -1), NOW);
  expect(earlier).toEqual({ from: NOW - 7_200_000, to: NOW - 3_600_000 });
});

test("moments that no calendar has are none", () => {
  for (const text of ["-999999999d", "-99999999999d", "now-3000000d", "1795248000000", "1e300"]) {
    expect(moment(text, NOW), text).toBeNull();
  }
  expect(moment("9999-12-31T23:59:59Z", NOW)).not.toBeNull();
  const far = stepRange({ ...defaultQuery("t"), from: "0002-01-01", to: "9999-01-01" }, NOW, 0);
  expect(rangeOf(far, NOW)).not.toBeNull();
});
