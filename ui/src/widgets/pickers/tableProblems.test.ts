import { expect, test } from "vitest";
import { problemWords } from "./tableProblems";

test("problems are told in a sentence", () => {
  expect(problemWords({ rejected: 1, codes: [] })).toBe(
    "In the last day: 1 row rejected: table _rejects has the reasons",
  );
  expect(problemWords({ rejected: 1200, codes: ["cut", "no_times"] })).toBe(
    "In the last day: 1,200 rows rejected: table _rejects has the reasons; warnings: cut, no_times (table _ingest)",
  );
});
