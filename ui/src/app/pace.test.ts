import { expect, test } from "vitest";
import { paceOf } from "./pace";

/** The moments in a minute at which a page asks whose answers take `took` milliseconds. */
function asks(every: number, took: number): number[] {
  const pace = paceOf(every, 0);
  const moments: number[] = [];
  for (let now = 100; now <= 60_000; now += 100) {
    const askedAt = moments.at(-1) ?? 0;
    if (pace(now - askedAt < took, now)) moments.push(now);
  }
  return moments;
}

test("a live page asks at its rate while answers are quick", () => {
  expect(asks(2000, 50).slice(0, 3)).toEqual([2000, 4000, 6000]);
  expect(asks(2000, 900).slice(0, 3)).toEqual([2000, 4000, 6000]);
});

test("slow answers stand for as long as they took", () => {
  const [first = 0, second = 0] = asks(2000, 5000);
  expect(second - first).toBeGreaterThanOrEqual(9500);
  expect(second - first).toBeLessThanOrEqual(10_000);
});

test("an answer that never comes is asked for again after a minute", () => {
  const pace = paceOf(2000, 0);
  for (let now = 100; now < 60_000; now += 100) expect(pace(true, now)).toBe(false);
  expect(pace(true, 60_000)).toBe(true);
  expect(pace(true, 60_100)).toBe(false);
});

test("a question that follows an answer is not cancelled", () => {
  const pace = paceOf(1000, 0);
  // The first answer comes late, and another question is asked after the look.
  expect(pace(true, 900)).toBe(false);
  expect(pace(false, 2000)).toBe(false);
  expect(pace(true, 2100)).toBe(false);
});
