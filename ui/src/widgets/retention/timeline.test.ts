import { describe, expect, it } from "vitest";
import { type Limits, limitsOf } from "./retentionLimits";
import { madeUp } from "./settings.fixture";
import { type StripFacts, stripOf, stripWords } from "./timeline";

const DAY = 86_400;
const NOW = Date.parse("2026-11-22T15:00:00Z");
const daysAgo = (days: number) => NOW - days * DAY * 1000;
const none = { ...limitsOf(madeUp({})), age: Number.POSITIVE_INFINITY };

const facts = (limits: Partial<Limits>, change: Partial<StripFacts> = {}): StripFacts => ({
  first: daysAgo(40),
  last: NOW,
  now: NOW,
  until: null,
  limits: { ...none, ...limits },
  ...change,
});

describe("stripOf", () => {
  it("is to scale where all ages are seen so", () => {
    const limits = { age: 30 * DAY, cold: 10 * DAY, sample: 20 * DAY };
    const strip = stripOf(facts(limits, { until: daysAgo(30) }));
    expect(strip.bent).toBe(false);
    expect(strip.parts).toEqual([
      { tone: "going", from: 0, to: 25 },
      { tone: "sampled", from: 25, to: 50 },
      { tone: "cold", from: 50, to: 75 },
      { tone: "whole", from: 75, to: 100 },
    ]);
    expect(strip.marks).toEqual([
      { text: "gone after 30 days", x: 25 },
      { text: "1 in 10 after 20 days", x: 50 },
      { text: "cold after 10 days", x: 75 },
    ]);
  });

  it("gives a limit room that is far younger than the rows", () => {
    const strip = stripOf(facts({ age: DAY }, { first: daysAgo(3650), until: daysAgo(1) }));
    expect(strip.bent).toBe(true);
    expect(strip.marks[0]?.x).toBeCloseTo(80);
    expect(strip.parts.map(({ tone }) => tone)).toEqual(["going", "whole"]);
  });

  it("gives rows room that are far younger than the limit", () => {
    const strip = stripOf(facts({ age: 30 * DAY }, { first: daysAgo(0.01) }));
    expect(strip.first).toBeCloseTo(80);
    expect(strip.marks[0]?.x).toBeGreaterThan(0);
    expect(strip.marks[0]?.x).toBeLessThan(5);
  });

  it("leaves out what rows do not live to see", () => {
    const strip = stripOf(facts({ age: 7 * DAY, cold: 10 * DAY, sample: 7 * DAY }));
    expect(strip.marks.map(({ text }) => text)).toEqual(["gone after 7 days"]);
    expect(strip.parts.map(({ tone }) => tone)).toEqual(["whole"]);
  });

  it("ends where the rows end", () => {
    const strip = stripOf(facts({}, { last: daysAgo(20) }));
    expect(strip.parts).toEqual([{ tone: "whole", from: 0, to: 50 }]);
    expect(strip.marks).toEqual([]);
  });

  it("has no rows where there are none, and still the limits", () => {
    const strip = stripOf(facts({ age: DAY }, { first: null, last: null }));
    expect(strip).toMatchObject({ parts: [], first: null });
    expect(strip.marks).toHaveLength(1);
    expect(stripOf(facts({}, { first: null, last: null })).marks).toEqual([]);
  });

  it("stays within its bounds, whatever the clocks say", () => {
    const odd = [NOW, NOW + 1, NOW + DAY * 1000, daysAgo(1e7)];
    for (const first of odd) {
      for (const cold of [60, DAY, 36_500 * DAY]) {
        const { parts, marks } = stripOf(facts({ cold }, { first, until: daysAgo(3) }));
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

it("the strip has words", () => {
  const limits = { age: 30 * DAY, cold: 10 * DAY, sample: 20 * DAY };
  expect(stripWords(facts(limits, { until: daysAgo(30) }), "UTC")).toBe(
    "Rows from Oct 13 15:00 on. Those before Oct 23 15:00 are too old. Rows are cold after 10 days. " +
      "About one in 10 is left after 20 days. Rows are gone after 30 days.",
  );
  expect(stripWords(facts({}, { first: null }), "UTC")).toBe(
    "No rows yet. Rows of any age are kept.",
  );
});
