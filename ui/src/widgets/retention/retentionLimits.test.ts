import { describe, expect, it } from "vitest";
import type { Settings } from "../../api/types";
import {
  bytesOf,
  deletesSooner,
  limitsWith,
  nextExpiryWords,
  secondsOf,
  warningsOf,
} from "./retentionLimits";
import { settingsFixture } from "./settings.fixture";

const NOW = Date.parse("2026-11-22T15:00:00Z");
const DAY = 86_400;

it("ages are read as the server reads them", () => {
  expect(["30d", "12h", "90m", "90s", "2w", "3600"].map(secondsOf)).toEqual([
    30 * DAY,
    43_200,
    5400,
    90,
    14 * DAY,
    3600,
  ]);
  expect(secondsOf("none")).toBe(Number.POSITIVE_INFINITY);
  for (const text of ["", "soon", "1.5d", "-1d", "30", "999999d"]) {
    expect(secondsOf(text)).toBeNull();
  }
});

it("sizes are read as the server reads them", () => {
  expect(["17B", "2GB", "2 gb", "512MiB", "1.5GiB", "10KB", "1073741824"].map(bytesOf)).toEqual([
    17,
    2e9,
    2e9,
    512 * 2 ** 20,
    1.5 * 2 ** 30,
    10_000,
    2 ** 30,
  ]);
  for (const text of ["", "much", "1.GB", "1XB", "iB", "1ib"]) expect(bytesOf(text)).toBeNull();
});

describe("limitsWith", () => {
  it("takes what cannot be read as not typed", () => {
    const current = settingsFixture({});
    expect(limitsWith(current, { age: "so" })).toEqual(limitsWith(current, {}));
    expect(
      limitsWith(current, { age: "7d", sample_after: "3d", sample_keep: "0.01" }),
    ).toMatchObject({
      age: 7 * DAY,
      sample: 3 * DAY,
      oneIn: 100,
    });
  });

  it("takes an empty input for the default", () => {
    const current = settingsFixture({ age: "none" });
    current.effective.age_seconds = null;
    expect(limitsWith(current, { age: "" }).age).toBe(30 * DAY);
  });
});

describe("deletesSooner", () => {
  const none = { age: false, bytes: false, sample: false, unarchived: false };

  it("knows what makes rows go sooner", () => {
    const current = settingsFixture({});
    expect(deletesSooner(current, { age: "31d", bytes: "2GiB", cold_after: "1d" })).toEqual(none);
    expect(deletesSooner(current, { age: "29d" })).toEqual({ ...none, age: true });
    expect(deletesSooner(current, { bytes: "1GB" })).toEqual({ ...none, bytes: true });
    expect(deletesSooner(current, { sample_after: "1d" })).toEqual({ ...none, sample: true });
  });

  it("minds how rows are sampled only where they are", () => {
    expect(deletesSooner(settingsFixture({}), { sample_keep: "1/100" })).toEqual(none);
    const current = settingsFixture({ sample_after: "7d", sample_least: 5 });
    current.effective = { ...current.effective, sample_after_seconds: 7 * DAY, sample_least: 5 };
    const sample = { ...none, sample: true };
    expect(deletesSooner(current, { sample_keep: "1/100" })).toEqual(sample);
    expect(deletesSooner(current, { sample_least: "" })).toEqual(sample);
    expect(deletesSooner(current, { sample_by: '["a"]' })).toEqual(sample);
    expect(deletesSooner(current, { sample_key: "user" })).toEqual(sample);
    expect(deletesSooner(current, { sample_keep: "1/5", sample_least: "9" })).toEqual(none);
    expect(deletesSooner(current, { sample_after: "none", sample_keep: "1/100" })).toEqual(none);
    expect(deletesSooner(current, { age: "5d", sample_keep: "1/100" })).toEqual({
      ...none,
      age: true,
    });
  });
});

describe("warningsOf", () => {
  const words = (current: Settings, edits: Parameters<typeof warningsOf>[1]) =>
    warningsOf(current, edits, NOW, "UTC").join(" ");

  it("says what goes, and that it does not come back", () => {
    expect(words(settingsFixture({}), { age: "7d" })).toBe(
      "Rows from before Nov 15 15:00 are deleted at once. Deleted rows cannot be restored.",
    );
    expect(words(settingsFixture({}), { bytes: "2MiB" })).toBe(
      "The table has 4 MiB: its oldest rows are deleted until it has 2 MiB. Deleted rows cannot be restored.",
    );
    expect(words(settingsFixture({}), { bytes: "8MiB", sample_after: "1d" })).toBe(
      "The oldest rows are deleted once the table has 8 MiB. " +
        "Of rows from before Nov 21 15:00 about one in 10 is kept. Deleted rows cannot be restored.",
    );
  });

  it("says nothing where rows stay longer", () => {
    expect(words(settingsFixture({}), { age: "none", time_column: "ts" })).toBe("");
  });

  it("knows the archive", () => {
    const current = { ...settingsFixture({ archive: true }), archive_place: "/srv/archive" };
    expect(words(current, { age: "7d", sample_after: "3d" })).toBe(
      "Rows from before Nov 15 15:00 are deleted soon, by whole days. " +
        "Of rows from before Nov 19 15:00 about one in 10 is kept. The archive gets these rows first. " +
        "Rows removed by sampling are not archived and cannot be restored.",
    );
    // What waits for the archive does so no more.
    expect(words(current, { archive: "" })).toBe(
      "Rows from before Oct 23 15:00 are deleted at once. Deleted rows are no longer archived. " +
        "Deleted rows cannot be restored.",
    );
    expect(words({ ...current, block_bytes: 2 ** 31 }, { archive: "", age: "none" })).toBe(
      "The table has 2 GiB: its oldest rows are deleted until it has 1 GiB. " +
        "Deleted rows are no longer archived. Deleted rows cannot be restored.",
    );
  });
});

describe("nextExpiryWords", () => {
  const first = NOW - 10 * DAY * 1000;
  const words = (current: Settings) => nextExpiryWords(current, first, NOW, "UTC");
  const at = "2026-11-22T15:07:13.5Z";
  const until = "2026-10-23T15:07:13.5Z";

  it("says what goes, and when", () => {
    const next_expiry = { at, until, rows: 1000, bytes: 1024 };
    expect(words({ ...settingsFixture({}), next_expiry })).toBe(
      "About 1,000 rows (1 KiB) from before Oct 23 15:07 are deleted at Nov 22 15:07.",
    );
    const archived = {
      ...settingsFixture({ archive: true }),
      next_expiry,
      archive_place: "/srv/archive",
    };
    expect(words(archived)).toBe(
      "About 1,000 rows (1 KiB) from before Oct 23 15:07 are deleted at Nov 22 15:07, to the archive.",
    );
    expect(words({ ...archived, archive_place: null })).toBe(
      "Nothing is deleted, as there is no archive to write it to.",
    );
  });

  it("says when the oldest row is due where nothing goes", () => {
    const yet = "Nothing expires yet: the oldest row expires on Dec 12 15:00.";
    const next_expiry = { at, until, rows: 0, bytes: 0 };
    expect(words({ ...settingsFixture({}), next_expiry })).toBe(yet);
    expect(words(settingsFixture({}))).toBe(yet);
    const old = NOW - 30 * DAY * 1000;
    expect(nextExpiryWords({ ...settingsFixture({}), next_expiry }, old, NOW, "UTC")).toBe(
      "Nothing is deleted at Nov 22 15:07: rows from before Oct 23 15:07 are deleted within a day, with the rest of " +
        "their row blocks.",
    );
  });

  it("has words for a table without a limit, and for one without rows", () => {
    const unlimited = settingsFixture({ age: "none" });
    unlimited.effective.age_seconds = null;
    expect(words(unlimited)).toBe("No age limit.");
    expect(nextExpiryWords(settingsFixture({}), null, NOW, "UTC")).toBe(
      "Rows are deleted once they are older than 30 days.",
    );
  });
});
