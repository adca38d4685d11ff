import { describe, expect, it } from "vitest";
import type { Coverage, LeafCoverage } from "../api/types";
import { missingWords } from "./coverage";

const leaf = (name: string, outcome: LeafCoverage["outcome"]) =>
  ({ name, outcome, rows_expected: 500, rows_scanned: 500, micros: 1 }) satisfies LeafCoverage;

const coverage = (rows_scanned: number, leaves: LeafCoverage[] = []): Coverage => ({
  leaves_asked: leaves.length,
  leaves_answered: leaves.length,
  leaves_with_table: leaves.length,
  rows_expected: 1000,
  rows_scanned,
  fraction: rows_scanned / 1000,
  leaves,
});

describe("missingWords", () => {
  it("says nothing where hardly a row is missing", () => {
    expect(missingWords(coverage(996))).toBeNull();
  });

  it("names who did not answer", () => {
    const leaves = [leaf("leaf-0", "answered"), leaf("leaf-1", "late")];
    expect(missingWords(coverage(500, leaves))).toBe(
      "500 rows (50.0 %) are not in this answer. No answer from leaf-1 (late).",
    );
  });
});
