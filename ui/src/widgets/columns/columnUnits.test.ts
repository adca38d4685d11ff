import { expect, test } from "vitest";
import type { Column, Settings } from "../../api/types";
import { readUnits, settingsWithUnit, withUnits } from "./columnUnits";

test("stored units are read, and nothing else that stands there", () => {
  const text = JSON.stringify({ took: "ms", odd_ms: "none", bad: "parsec", worse: 7 });
  expect([...readUnits(text)]).toEqual([
    ["took", "ms"],
    ["odd_ms", "none"],
  ]);
  for (const broken of [null, "", "{", "7", '"ms"']) expect(readUnits(broken).size).toBe(0);
});

test("a column named __proto__ can have a unit", () => {
  expect([...readUnits('{"__proto__": "ms"}')]).toEqual([["__proto__", "ms"]]);
});

test("the settings with another unit keep all else", () => {
  const settings = { age: "7d", units: { took: "ms" } };
  const current = { version: 3, settings, effective: { age: "7d" } } as unknown as Settings;
  const rate = settingsWithUnit(current, "rate", "per second");
  expect(rate).toEqual({ age: "7d", units: { took: "ms", rate: "per second" } });
  expect(settingsWithUnit(current, "took", null)).toEqual({ age: "7d", units: {} });
  // Rows of any age stay, though nothing was set before.
  const old = { version: 0, settings: {}, effective: { age: "none" } } as unknown as Settings;
  expect(settingsWithUnit(old, "took", "s")).toEqual({ age: "none", units: { took: "s" } });
});

test("only columns with a unit become others", () => {
  const columns = [{ name: "took" }, { name: "status" }] as Column[];
  const [took, status] = withUnits(columns, new Map([["took", "ms" as const]]));
  expect(took?.unit).toBe("ms");
  expect(status).toBe(columns[1]);
});
