import { describe, expect, it } from "vitest";
import {
  ageWords,
  keptMoment,
  lengthWords,
  rangeProblem,
  rangeWords,
  relativeText,
  shownMoment,
  spanWords,
  typedMoment,
} from "./timeWords";

const NOW = Date.parse("2026-11-21T08:00:00Z");
const at = (text: string, zone = "UTC") => {
  const moment = typedMoment(text, NOW, zone);
  return moment === null ? null : new Date(moment).toISOString();
};

describe("spanWords", () => {
  const table = {
    name: "t",
    rows: 2,
    column_count: 1,
    time_column: "ts",
    first_time: "2026-11-20T12:00:30.123456Z",
    last_time: "2026-11-21T07:59:59.999Z",
    age_limit_days: 30,
    blocks: 1,
    block_bytes: 1,
    raw_bytes: 1,
    dropped_rows: 0,
    dropped_until: null,
    lost_rows: 0,
    waiting_rows: 0,
    state: "alive",
  };
  it("says from when to when there are rows", () => {
    expect(spanWords(table, NOW, "UTC")).toBe(
      "rows from Nov 20 12:00:30 to Nov 21 07:59:59, none older than 30 days",
    );
    expect(spanWords({ ...table, age_limit_days: null }, NOW, "UTC")).toMatch(/, of any age$/);
    expect(spanWords({ ...table, last_time: null }, NOW, "UTC")).toBe("no rows yet");
  });
  it("says which ones were dropped", () => {
    const full = { ...table, dropped_rows: 9, dropped_until: "2026-11-20T12:00:00Z" };
    expect(spanWords(full, NOW, "UTC")).toMatch(/older ones until Nov 20 12:00 were dropped$/);
  });
});

describe("typedMoment", () => {
  it("takes relative moments", () => {
    expect(at("now")).toBe("2026-11-21T08:00:00.000Z");
    expect(at("-3h")).toBe("2026-11-21T05:00:00.000Z");
    expect(at("now-1d")).toBe("2026-11-20T08:00:00.000Z");
  });
  it("takes dates and clocks in the zone", () => {
    expect(at("2026-11-20 12:00")).toBe("2026-11-20T12:00:00.000Z");
    expect(at("2026-11-20 12:00", "Europe/Berlin")).toBe("2026-11-20T11:00:00.000Z");
    expect(at("2026-07-20 12:00", "Europe/Berlin")).toBe("2026-07-20T10:00:00.000Z");
    expect(at("2026-11-20", "Asia/Kolkata")).toBe("2026-11-19T18:30:00.000Z");
    expect(at("9:30")).toBe("2026-11-21T09:30:00.000Z");
    // In Auckland it is already the evening of the 21st.
    expect(at("09:30:15", "Pacific/Auckland")).toBe("2026-11-20T20:30:15.000Z");
  });
  it("takes ISO 8601 and Unix seconds wherever the reader is", () => {
    expect(at("2026-11-20T12:00:00Z", "Europe/Berlin")).toBe("2026-11-20T12:00:00.000Z");
    expect(at("2026-11-20T12:00:00.5+02:00")).toBe("2026-11-20T10:00:00.500Z");
    expect(at("1795248000")).toBe("2026-11-21T08:00:00.000Z");
  });
  it("takes the days that have a name", () => {
    expect(at("today")).toBe("2026-11-21T00:00:00.000Z");
    expect(at("Yesterday 10:00")).toBe("2026-11-20T10:00:00.000Z");
    expect(at("yesterday at 9:05", "Europe/Berlin")).toBe("2026-11-20T08:05:00.000Z");
    expect(at("yesterdays")).toBeNull();
  });
  it("takes lengths of time as people write them", () => {
    for (const text of [
      "2h",
      "2 hours",
      "last 2 hours",
      "the past 2 hrs",
      "2h ago",
      "120 minutes",
    ]) {
      expect(at(text), text).toBe("2026-11-21T06:00:00.000Z");
    }
    expect(at("1d ago")).toBe("2026-11-20T08:00:00.000Z");
    expect(relativeText("1h 30min ago")).toBe("-1h30m");
    expect(keptMoment("last 2 hours", NOW, "UTC")).toBe("-2h");
    expect(relativeText("2 moons ago")).toBeNull();
  });
  it("takes days as the page itself writes them, and the beginnings of periods", () => {
    expect(at("Nov 20 14:00")).toBe("2026-11-20T14:00:00.000Z");
    expect(at("20 November")).toBe("2026-11-20T00:00:00.000Z");
    expect(at("Mar 1 2025 00:30", "Europe/Berlin")).toBe("2025-02-28T23:30:00.000Z");
    // A day that is still to come was meant a year ago.
    expect(at("Dec 24")).toBe("2025-12-24T00:00:00.000Z");
    // The 21st is a Saturday.
    expect(at("this week")).toBe("2026-11-16T00:00:00.000Z");
    expect(at("this month")).toBe("2026-11-01T00:00:00.000Z");
    expect([at("Nov 31"), at("Mai 3")]).toEqual([null, null]);
  });
  it("refuses what is none", () => {
    for (const text of ["", "soon", "2026", "5", "-3", "2026-13-01", "25:00", "foo 1", "-"]) {
      expect(at(text)).toBeNull();
    }
  });
});

describe("moments of the query", () => {
  it("keeps relative ones, fixes others", () => {
    expect(keptMoment(" -3h ", NOW, "UTC")).toBe("-3h");
    expect(keptMoment("2026-11-20 12:00", NOW, "Europe/Berlin")).toBe("2026-11-20T11:00:00.000Z");
  });
  it("shows fixed ones so that they can be typed again", () => {
    const shown = shownMoment("2026-11-20T11:00:00.000Z", NOW, "Europe/Berlin");
    expect(shown).toBe("2026-11-20 12:00");
    const millis = shownMoment("2026-11-20T11:00:30.250Z", NOW, "UTC");
    expect(at(millis)).toBe("2026-11-20T11:00:30.250Z");
    expect(shownMoment("now", NOW, "UTC")).toBe("now");
  });
  it("says why two are no range", () => {
    expect(rangeProblem("-3h", "now", NOW, "UTC")).toBeNull();
    expect(rangeProblem("now", "-3h", NOW, "UTC")).toMatch(/before it begins/);
    expect(rangeProblem("", "now", NOW, "UTC")).toBe("From when?");
    expect(rangeProblem("-3h", "soon", NOW, "UTC")).toMatch(/“soon” is not a time/);
  });
});

describe("words", () => {
  it("of ranges", () => {
    expect(rangeWords("-1d", "now", NOW, "UTC")).toBe("Last 1 day");
    expect(rangeWords("all", "now", NOW, "UTC")).toBe("All of the table");
    expect(rangeWords("now-15m", "now", NOW, "UTC")).toBe("Last 15 minutes");
    const [from, to] = ["2026-11-20T03:10:00Z", "2026-11-21T09:00:00Z"];
    expect(rangeWords(from, to, NOW, "UTC")).toBe("Nov 20 03:10 – Nov 21 09:00");
    expect(rangeWords(from, "2026-11-20T04:00:07Z", NOW, "UTC")).toBe("Nov 20 03:10 – 04:00:07");
    expect(rangeWords("2025-11-20T03:10:00Z", "now", NOW, "UTC")).toBe("Nov 20 2025 03:10 – now");
    expect(rangeWords("", "now", NOW, "UTC")).toBe("Pick a time range");
  });
  it("of lengths and ages", () => {
    expect(lengthWords(107_400_000)).toBe("1d 6h");
    expect(lengthWords(3_600_000)).toBe("1h");
    expect(lengthWords(86_399_000)).toBe("1d");
    expect(lengthWords(12)).toBe("12ms");
    expect(ageWords("2026-11-21T07:59:30Z", NOW)).toBe("live");
    expect(ageWords("2026-11-21T07:56:30Z", NOW)).toBe("3 min ago");
    expect(ageWords("2026-11-19T07:00:00Z", NOW)).toBe("2 days ago");
    expect(ageWords("2026-11-21T20:30:00Z", NOW)).toBe("in 12 h");
    expect(ageWords(null, NOW)).toBe("no rows");
  });
});
