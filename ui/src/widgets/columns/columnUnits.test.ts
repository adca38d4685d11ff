import { expect, test } from "vitest";
import type { Column } from "../../api/types";
import { readUnits, withUnits } from "./columnUnits";

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

test("only columns with a unit become others", () => {
  const columns = [{ name: "took" }, { name: "status" }] as Column[];
  const [took, status] = withUnits(columns, new Map([["took", "ms" as const]]));
  expect(took?.unit).toBe("ms");
  expect(status).toBe(columns[1]);
});
