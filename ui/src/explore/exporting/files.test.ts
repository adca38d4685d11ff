import { expect, test } from "vitest";
import { savedWords } from "./files";

test("the words on a saved file say what it has not", () => {
  const file = { blob: { size: 2048 }, rows: 100, cut: false, fraction: 1 };
  expect(savedWords("t.csv", file)).toBe("Saved t.csv: 100 rows, 2 KiB.");
  expect(savedWords("t.csv", { ...file, cut: true })).toMatch(/cut at this limit/);
  expect(savedWords("t.csv", { ...file, rows: null, fraction: 0.5 })).toMatch(
    /^Saved t.csv: 2 KiB\. It is incomplete: it rests on 50.0 % of the rows\.$/,
  );
});
