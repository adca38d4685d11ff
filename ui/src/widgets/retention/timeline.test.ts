import { describe, expect, it } from "vitest";
import { type Limits, limitsOf } from "./retentionLimits";
import { settingsFixture } from "./settings.fixture";
import { type TimelineInput, timelineOf, timelineWords } from "./timeline";

const DAY = 86_400;
const NOW = Date.parse("2026-11-22T15:00:00Z");
const daysAgo = (days: number) => NOW - days * DAY * 1000;
const none = { ...limitsOf(settingsFixture({})), age: Number.POSITIVE_INFINITY };

const facts = (limits: Partial<Limits>, change: Partial<TimelineInput> = {}): TimelineInput => ({
  first: daysAgo(40),
  last: NOW,
  now: NOW,
  until: null,
  limits: { ...none, ...limits },
  ...change,
});

describe("timelineOf", () => {
  it("is to scale where all ages are seen so", () => {
    const limits = { age: 30 * DAY, cold: 10 * DAY, sample: 20 * DAY };
    const timeline = timelineOf(facts(limits, { until: daysAgo(30) }));
    expect(timeline.compressed).toBe(false);
    expect(timeline.parts).toEqual([
      { tone: "expiring", from: 0, to: 25 },
      { tone: "sampled", from: 25, to: 50 },
      { tone: "cold", from: 50, to: 75 },
      { tone: "full", from: 75, to: 100 },
    ]);
    expect(timeline.marks).toEqual([
      { text: "deleted after 30 days", x: 25 },
      { text: "1 in 10 after 20 days", x: 50 },
      { text: "cold after 10 days", x: 75 },
    ]);
  });

  it("gives a limit room that is far younger than the rows", () => {
    const timeline = timelineOf(facts({ age: DAY }, { first: daysAgo(3650), until: daysAgo(1) }));
    expect(timeline.compressed).toBe(true);
    expect(timeline.marks[0]?.x).toBeCloseTo(80);
    expect(timeline.parts.map(({ tone }) => tone)).toEqual(["expiring", "full"]);
  });

  it("gives rows room that are far younger than the limit", () => {
    const timeline = timelineOf(facts({ age: 30 * DAY }, { first: daysAgo(0.01) }));
    expect(timeline.first).toBeCloseTo(80);
    expect(timeline.marks[0]?.x).toBeGreaterThan(0);
    expect(timeline.marks[0]?.x).toBeLessThan(5);
  });

  it("leaves out what rows do not live to see", () => {
    const timeline = timelineOf(facts({ age: 7 * DAY, cold: 10 * DAY, sample: 7 * DAY }));
    expect(timeline.marks.map(({ text }) => text)).toEqual(["deleted after 7 days"]);
    expect(timeline.parts.map(({ tone }) => tone)).toEqual(["full"]);
  });

  it("ends where the rows end", () => {
    const timeline = timelineOf(facts({}, { last: daysAgo(20) }));
    expect(timeline.parts).toEqual([{ tone: "full", from: 0, to: 50 }]);
    expect(timeline.marks).toEqual([]);
  });

  it("has no rows where there are none, and still the limits", () => {
    const timeline = timelineOf(facts({ age: DAY }, { first: null, last: null }));
    expect(timeline).toMatchObject({ parts: [], first: null });
    expect(timeline.marks).toHaveLength(1);
    expect(timelineOf(facts({}, { first: null, last: null })).marks).toEqual([]);
  });

  it("stays within its bounds, whatever the clocks say", () => {
    const odd = [NOW, NOW + 1, NOW + DAY * 1000, daysAgo(1e7)];
    for (const first of odd) {
      for (const cold of [60, DAY, 36_500 * DAY]) {
        const { parts, marks } = timelineOf(facts({ cold }, { first, until: daysAgo(3) }));
        for (const x of [
          ...parts.flatMap(({ from, to }) => [from, to]),
          ...marks.map((it) => it.x),
        ]) {
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x).toBeLessThanOrEqual(100);
        }
      }
    }
  });
});

it("the timeline has words", () => {
  const limits = { age: 30 * DAY, cold: 10 * DAY, sample: 20 * DAY };
  expect(timelineWords(facts(limits, { until: daysAgo(30) }), "UTC")).toBe(
    "Rows from Oct 13 15:00 on. Rows before Oct 23 15:00 have expired. Rows are cold after 10 days. " +
      "About one in 10 is kept after 20 days. Rows are deleted after 30 days.",
  );
  expect(timelineWords(facts({}, { first: null }), "UTC")).toBe(
    "No rows yet. Rows of any age are kept.",
  );
});
