import { describe, expect, it } from "vitest";
import openapi from "../../../../spec/openapi.json";
import type { Settings } from "../../api/types";
import { settingsFixture } from "./settings.fixture";
import {
  changedByOthers,
  changesOf,
  columnsOf,
  columnsText,
  defaultOf,
  defaultValueOf,
  NAMES,
  refusedSetting,
  settingsWith,
  spellBytes,
  textsOf,
} from "./settingsDraft";

const set = settingsFixture({
  age: "7d",
  archive: true,
  bytes: 2_000_000_000,
  sample_by: ["host", "a,b"],
  sample_least: 1000,
});

describe("textsOf", () => {
  it("spells what is set, and leaves the rest empty", () => {
    expect(textsOf(set)).toEqual({
      age: "7d",
      archive: "on",
      bytes: "2GB",
      cold_after: "",
      sample_after: "",
      sample_by: '["host","a,b"]',
      sample_keep: "",
      sample_key: "",
      sample_least: "1000",
      storage: "",
      time_column: "",
    });
  });

  it("takes a table of old rows that nobody set anything for as one of any age", () => {
    const old: Settings = { ...settingsFixture({}), version: 0 };
    old.effective = { ...old.effective, age: "none", age_seconds: null };
    expect(textsOf(old).age).toBe("none");
    expect(settingsWith(old, { bytes: "2GB" })).toEqual({ age: "none", bytes: "2GB" });
    expect(settingsWith(old, { age: "" })).toEqual({});
    expect(textsOf({ ...old, version: 1 }).age).toBe("");
  });
});

it("an empty input says what rules without it", () => {
  expect(defaultOf("age", set)).toBe("30d");
  expect(defaultOf("age", settingsFixture({}))).toBe("30d");
  expect(defaultOf("bytes", settingsFixture({}))).toBe("1GiB");
  expect(
    defaultOf("bytes", { ...settingsFixture({ bytes: "2GB" }), bytes_default: 6 * 2 ** 30 }),
  ).toBe("6GiB");
  expect(defaultOf("sample_least", settingsFixture({}))).toBe("1");
  expect(defaultOf("sample_key", settingsFixture({}))).toBe("no column");
  expect(defaultOf("time_column", settingsFixture({}))).toBe("time");
  expect(defaultOf("time_column", settingsFixture({ time_column: "ts" }))).toBe(
    "detected from the first rows",
  );
  const hostile = settingsFixture({});
  hostile.effective.time_column = "\u202eemit";
  expect(defaultOf("time_column", hostile)).toBe("‹U+202E›emit");
});

describe("changesOf", () => {
  it("is what differs, spaces aside", () => {
    expect(changesOf(set, { age: " 7d ", bytes: "2GB", cold_after: "" })).toEqual({});
    expect(changesOf(set, { age: " 3d ", bytes: "" })).toEqual({ age: "3d", bytes: "" });
  });

  it("leaves a name alone that begins with a space", () => {
    const odd = settingsFixture({ time_column: " ts" });
    expect(changesOf(odd, { time_column: " ts" })).toEqual({});
    expect(changesOf(odd, { age: "7d" })).toEqual({ age: "7d" });
  });
});

it("what was not edited is sent as it came", () => {
  expect(settingsWith(set, { age: "", sample_keep: "1/100", sample_least: "few" })).toEqual({
    archive: true,
    bytes: 2_000_000_000,
    sample_by: ["host", "a,b"],
    sample_keep: "1/100",
    sample_least: "few",
  });
  const edits = { sample_by: columnsText(["c"]), sample_least: "20", archive: "" };
  expect(settingsWith(set, edits)).toEqual({
    age: "7d",
    bytes: 2_000_000_000,
    sample_by: ["c"],
    sample_least: 20,
  });
  const byKey = { sample_by: "", sample_key: " 12 ", sample_least: "" };
  expect(settingsWith(set, byKey)).toEqual({
    age: "7d",
    archive: true,
    bytes: 2_000_000_000,
    sample_key: "12",
  });
});

it("lists of columns are read back, whatever their names", () => {
  for (const names of [[], ["a"], ["a,b", 'say "x"', " "]]) {
    expect(columnsOf(columnsText(names))).toEqual(names);
  }
  expect(columnsText([])).toBe("");
});

it("the server's word stands at the setting that it names", () => {
  const body = { type: "", title: "", status: 400 };
  expect(refusedSetting({ ...body, field: "age", detail: 'age: "soon" is no age' })).toEqual({
    name: "age",
    reason: '"soon" is no age',
  });
  expect(refusedSetting({ ...body, field: "version", detail: "it is missing" })).toBeNull();
  expect(refusedSetting({ ...body, detail: "no" })).toBeNull();
  expect(refusedSetting(undefined)).toBeNull();
});

it("what others set is current, with nothing out of sight", () => {
  const theirs = textsOf(settingsFixture({ age: "3d", sample_by: ["a\u200b", "b"] }));
  expect(changedByOthers(textsOf(set), theirs)).toBe(
    "age=3d, archive=default, bytes=default, sample_by=a‹U+200B›, b, sample_least=default",
  );
  expect(changedByOthers(theirs, theirs)).toBe("");
});

it("bytes are spelled as the server spells them", () => {
  expect([0, 1_234_567, 2e9, 512 * 2 ** 20, 2 ** 30, 1024, 1000].map(spellBytes)).toEqual([
    "0",
    "1234567",
    "2GB",
    "512MiB",
    "1GiB",
    "1KiB",
    "1kB",
  ]);
});

it("the settings and their defaults are those that the server documents", () => {
  const {
    format: _,
    units: _units,
    ...documented
  } = openapi.components.schemas.TableSettings.properties;
  expect(NAMES).toEqual(Object.keys(documented).toSorted());
  for (const name of ["age", "cold_after", "sample_after", "sample_keep", "storage"] as const) {
    const [, text] = /Default: ([^.,]+)/.exec(documented[name].description) ?? [];
    expect(defaultValueOf(name, settingsFixture({}))).toBe(text);
  }
});
