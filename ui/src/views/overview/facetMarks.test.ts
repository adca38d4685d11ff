import { expect, test } from "vitest";
import type { Answer } from "../../api/types";
import { facetMarks } from "./facetMarks";

const answerOf = (fraction: number, warnings: readonly object[] = []) => {
  const counts = { rows_expected: 1000, rows_scanned: 1000 * fraction, leaves: [] };
  return { coverage: { fraction, ...counts }, warnings } as unknown as Answer;
};

test("a whole answer has no mark, one that lacks rows has, however few they are", () => {
  expect(facetMarks(answerOf(1), 0)).toEqual([]);
  expect(facetMarks(answerOf(0.999), 0)).toEqual(["From 99.90 % of the rows."]);
  expect(facetMarks(answerOf(0.9), 0)[0]).toMatch(/^100 rows \(10.0 %\) are not in this answer/);
});

test("values of another kind are not passed off as none", () => {
  const message = "4 rows have score as another kind and were left out";
  const warnings = [
    { code: "other_kind_skipped", subject: "score", count: 4, message },
    { code: "interval_too_few" },
  ];
  expect(facetMarks(answerOf(1, warnings), 0)).toEqual([`${message}.`]);
  expect(facetMarks(answerOf(1, warnings), 0, "score")).toEqual([
    "(none) counts 4 rows with score of another kind.",
  ]);
});
