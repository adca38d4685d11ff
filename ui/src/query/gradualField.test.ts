import { expect, it } from "vitest";
import { gradualField } from "./gradualField";
import { defaultQuery } from "./query";
import { stepRange, withRange } from "./time";

const HOUR = 3_600_000;
const base = { ...defaultQuery("t"), from: "-1h" };

it("knows what is turned in small steps, and alone", () => {
  expect(gradualField(base, { ...base, search: "ti" })).toBe("search");
  expect(gradualField(base, { ...base, limit: 101 })).toBe("limit");
  expect(gradualField(base, { ...base, limit: 101, series: 9 })).toBeNull();
  expect(gradualField(base, { ...base, group: ["a"] })).toBeNull();
  expect(gradualField(base, base)).toBeNull();
});

it("takes steps through time for one, but not another length of it", () => {
  const now = 400 * HOUR;
  const back = stepRange(base, now, -1);
  expect(gradualField(base, back)).toBe("time");
  expect(gradualField(back, stepRange(back, now, -1))).toBe("time");
  expect(gradualField(back, withRange(back, { from: now, to: now + HOUR / 2 }))).toBeNull();
});
