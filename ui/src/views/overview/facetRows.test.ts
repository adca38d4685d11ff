import { expect, it } from "vitest";
import type { Answer } from "../../api/types";
import { facetRows, inOrder, keyOf, looksUnsorted } from "./facetRows";

const answerOf = (rows: Answer["rows"], over: Partial<Answer> = {}, compared = false) => {
  const names = [...(compared ? ["side"] : []), "build", "rate", "count(*)"];
  const columns = names.map((name) => ({ name, type: "number" }));
  return { columns, rows, samples: rows.map(() => 500), ...over } as unknown as Answer;
};
const names = (rows: ReturnType<typeof facetRows>) => rows.map(({ value }) => value);

it("ranks what does not add up by what it is at least, so that few rows do not come first", () => {
  const rows = [
    ["lucky", 0.09, 10],
    ["bad", 0.04, 900],
    ["fine", 0.01, 900],
    ["rare", 0.5, 2],
  ];
  const intervals: Answer["intervals"] = [
    [null, [-0.02, 0.2], null],
    [null, [0.03, 0.05], null],
    [null, [0.005, 0.015], null],
    [null, "too_few", null],
  ];
  const ranked = facetRows(answerOf(rows, { intervals }), false, "value");
  expect(names(ranked)).toEqual(["bad", "fine", "lucky", "rare"]);
  expect(ranked.map(({ few }) => few)).toEqual([false, false, false, true]);
  expect(ranked[0]?.interval).toEqual({ low: 0.03, high: 0.05 });
});

it("knows when numbers stand out of order, and keeps an order that is held", () => {
  const rowsOf = (...numbers: [string, number | null][]) =>
    facetRows(answerOf(numbers.map(([name, now]) => [name, now, 900])), true, "value");
  const before = rowsOf(["a", 9], ["b", 7]);
  expect(looksUnsorted(before)).toBe(false);
  const next = rowsOf(["a", 1], ["b", 7], ["c", 20]);
  expect(names(next)).toEqual(["c", "b", "a"]);
  const held = inOrder(next, before.map(keyOf));
  expect(names(held)).toEqual(["a", "b", "c"]);
  expect(looksUnsorted(held)).toBe(true);
});

it("ranks what adds up by its size", () => {
  const ranked = facetRows(
    answerOf([
      ["a", 5, 5],
      [null, 9, 9],
      ["c", 7, 7],
    ]),
    true,
    "value",
  );
  expect(names(ranked)).toEqual([null, "c", "a"]);
});

it("joins both sides, and ranks changes by what they are at least", () => {
  const rows = [
    ["now", "same", 100, 100],
    ["now", "up", 150, 150],
    ["now", "new", 40, 40],
    ["before", "same", 101, 101],
    ["before", "up", 100, 100],
    ["before", "gone", 60, 60],
  ];
  const ranked = facetRows(answerOf(rows, {}, true), true, "change");
  expect(names(ranked)).toEqual(["gone", "up", "new", "same"]);
  expect(ranked[0]).toMatchObject({ now: 0, before: 60, difference: -60 });
  const noisy = Array.from({ length: 6 }, (_, at) => [
    null,
    null,
    at === 1 || at === 4 ? [0, 250] : [100, 100],
    null,
  ]) as Answer["intervals"];
  const cautious = facetRows(answerOf(rows, { intervals: noisy as never }, true), true, "change");
  expect(names(cautious)[0]).toBe("gone");
  expect(names(cautious).indexOf("up")).toBeGreaterThan(names(cautious).indexOf("new"));
});

it("says what is new of what does not add up", () => {
  const rows = [
    ["now", "r2", 0.2, 10],
    ["before", "r1", 0.1, 10],
  ];
  const ranked = facetRows(answerOf(rows, {}, true), false, "change");
  expect(ranked[0]).toMatchObject({ value: "r2", now: 0.2, before: null, difference: null });
});
