import { describe, expect, it } from "vitest";
import { roundStep } from "../base/roundStep";
import { scaleOf, ticksOf, tickText, timeTicks } from "./echart-axes";

describe("scales", () => {
  it("have round ends", () => {
    expect(scaleOf(3, 1830, 4, true)).toEqual({ min: 0, max: 2000, step: 500 });
    expect(scaleOf(900, 1010, 4, false)).toEqual({ min: 900, max: 1050, step: 50 });
    expect(scaleOf(-30, 70, 4, true)).toEqual({ min: -50, max: 100, step: 50 });
  });

  it("exist for nothing, zero and a single value", () => {
    expect(scaleOf(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 4, true).max).toBe(1);
    expect(scaleOf(0, 0, 4, true).max).toBeGreaterThan(0);
    const single = scaleOf(50, 50, 4, false);
    expect(single.min).toBeLessThan(50);
    expect(single.max).toBeGreaterThan(50);
    expect(roundStep(0, 4)).toBe(1);
  });

  it("have ticks without noise", () => {
    expect(ticksOf(0, 0.5, 0.1)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    expect(ticksOf(0, 1e-9, 5e-10)).toEqual([0, 5e-10, 1e-9]);
  });

  it("tell values apart that are large and close together", () => {
    const ticks = ticksOf(9_007_199_254_740_000, 9_007_199_254_741_000, 500);
    expect(ticks).toEqual([9_007_199_254_740_000, 9_007_199_254_740_500, 9_007_199_254_741_000]);
    expect(tickText(ticks)(9_007_199_254_740_500)).toBe("9,007,199,254,740,500");
    expect(tickText([0, 20_000])(20_000)).toBe("20 k");
  });
});

describe("ticks of time", () => {
  const utc = (text: string) => Date.parse(`${text}Z`);

  it("stand at round clock times; days are bold", () => {
    const ticks = timeTicks(utc("2026-11-20T21:10"), utc("2026-11-21T03:50"), "UTC", 8);
    expect(ticks.map(({ text }) => text)).toEqual([
      "22:00",
      "23:00",
      "21 Nov",
      "01:00",
      "02:00",
      "03:00",
    ]);
    expect(ticks.filter(({ bold }) => bold)).toHaveLength(1);
  });

  it("name the day where no midnight does", () => {
    const [first, second] = timeTicks(utc("2026-11-21T03:00"), utc("2026-11-21T04:00"), "UTC", 6);
    expect([first?.text, second?.text]).toEqual(["21 Nov 03:00", "03:10"]);
  });

  it("follow the zone's clock, and its summer time", () => {
    // In Berlin the clocks went back at 01:00 UTC on 25 October 2026.
    const ticks = timeTicks(utc("2026-10-24T20:00"), utc("2026-10-26T02:00"), "Europe/Berlin", 6);
    const midnights = ticks.filter(({ bold }) => bold).map(({ at }) => new Date(at).toISOString());
    expect(midnights).toEqual(["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]);
    expect(ticks.every(({ at }, place) => place === 0 || at > (ticks[place - 1]?.at ?? 0))).toBe(
      true,
    );
  });

  it("go from days to months to years", () => {
    const days = timeTicks(utc("2026-11-25T00:00"), utc("2026-12-04T00:00"), "UTC", 12);
    expect(days.find(({ bold }) => bold)?.text).toBe("1 Dec");
    const months = timeTicks(utc("2026-08-15T00:00"), utc("2027-03-15T00:00"), "UTC", 8);
    expect(months.map(({ text }) => text)).toEqual([
      "Sep",
      "Oct",
      "Nov",
      "Dec",
      "2027",
      "Feb",
      "Mar",
    ]);
    expect(
      timeTicks(utc("1990-01-01T00:00"), utc("2020-01-01T00:00"), "UTC", 6).length,
    ).toBeGreaterThan(2);
  });

  it("reach down to a second", () => {
    const ticks = timeTicks(utc("2026-11-21T03:00:00.2"), utc("2026-11-21T03:00:03"), "UTC", 6);
    expect(ticks.map(({ text }) => text)).toEqual(["21 Nov 03:00:01", "03:00:02", "03:00:03"]);
  });
});
