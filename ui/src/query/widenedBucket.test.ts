import { expect, test } from "vitest";
import { defaultQuery } from "./query";
import { widenedBucket } from "./widenedBucket";

const NOW = Date.parse("2026-11-21T12:34:56.789Z");
const DAY = 86_400_000;

test("a bucket that gave way is named", () => {
  const query = { ...defaultQuery("t"), bucket: "1s" };
  expect(widenedBucket(query, { from: NOW - DAY, to: NOW })).toEqual([
    { part: "bucket=1s", why: "is too short for this time range; 10m is used" },
  ]);
  expect(widenedBucket(query, { from: NOW - 60_000, to: NOW })).toEqual([]);
  expect(widenedBucket(defaultQuery("t"), { from: NOW - DAY, to: NOW })).toEqual([]);
});
