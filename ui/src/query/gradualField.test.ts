import { expect, it } from "vitest";
import { gradualKnob } from "./gradualField";
import { opening } from "./query";
import { stepped, within } from "./time";

const HOUR = 3_600_000;
const base = { ...opening("t"), from: "-1h" };

it("knows what is turned in small steps, and alone", () => {
  expect(gradualKnob(base, { ...base, search: "ti" })).toBe("search");
  expect(gradualKnob(base, { ...base, limit: 101 })).toBe("limit");
  expect(gradualKnob(base, { ...base, limit: 101, series: 9 })).toBeNull();
  expect(gradualKnob(base, { ...base, group: ["a"] })).toBeNull();
  expect(gradualKnob(base, base)).toBeNull();
});

it("takes steps through time for one, but not another length of it", () => {
  const now = 400 * HOUR;
  const back = stepped(base, now, -1);
  expect(gradualKnob(base, back)).toBe("time");
  expect(gradualKnob(back, stepped(back, now, -1))).toBe("time");
  expect(gradualKnob(back, within(back, { from: now, to: now + HOUR / 2 }))).toBeNull();
});
