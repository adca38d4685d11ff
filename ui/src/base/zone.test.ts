import { expect, test, vi } from "vitest";
import { spanText, unzoned, zoned } from "./zone";

test("a span has its day once, if it is within one", () => {
  const at = (text: string) => Date.parse(`2026-11-${text}Z`);
  expect(spanText({ from: at("27T15:00:00"), to: at("27T16:30:00") }, "UTC")).toBe(
    "2026-11-27 15:00 – 16:30",
  );
  expect(spanText({ from: at("27T15:00:00"), to: at("28T00:00:00") }, "UTC")).toBe(
    "2026-11-27 15:00 – 2026-11-28 00:00",
  );
});

test("the wall clock of the browser's zone is that of its name", () => {
  for (const name of ["America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC"]) {
    vi.stubEnv("TZ", name);
    // Both sides of summer time, a day that a zone left out, and before 1970.
    for (const moment of [
      "2026-03-08T06:59:59.5",
      "2026-11-01T06:30",
      "2011-12-30T12:00",
      "1945-07-01T00:00",
    ]) {
      const ms = Date.parse(`${moment}Z`);
      expect(zoned(ms, "local")).toBe(zoned(ms, name));
      expect(unzoned(zoned(ms, name), "local")).toBe(unzoned(zoned(ms, name), name));
    }
  }
  vi.unstubAllEnvs();
});

test("numbers and local times are written without Intl, whose first use takes long", async () => {
  vi.resetModules();
  vi.stubGlobal("Intl", undefined);
  vi.stubGlobal("Temporal", { Now: { timeZoneId: () => "Europe/Berlin" } });
  const { short } = await import("./format");
  const { calendarZone, timeText } = await import("./zone");
  expect(short(12_431)).toBe("12.4 k");
  expect(calendarZone("local")).toBe("Europe/Berlin");
  expect(timeText(Date.UTC(2026, 10, 29), "local")).toMatch(/^2026-11-2[89] /);
  vi.unstubAllGlobals();
});
