import { expect, test } from "vitest";
import dialect from "../../../../spec/sql.md?raw";
import { AGGREGATES, SCALARS } from "./words";

test("all functions that are offered are in the description of the dialect", () => {
  // Percentiles are described as a pattern.
  const names = [...AGGREGATES, ...SCALARS].filter((name) => !/^p\d+$/.test(name));
  const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(dialect));
  expect(missing).toEqual([]);
});
