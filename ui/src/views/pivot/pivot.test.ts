import { expect, test } from "vitest";
import type { GroupRow, Groups } from "../shared/groups";
import { pivotOf, sumOf } from "./pivot";

const row = (keys: (string | null)[], now: number, before: number | null = null): GroupRow => ({
  keys,
  values: [{ now, before }],
  samples: 1,
});
const rows = [row(["a", "x"], 5, 2), row(["b", "y"], 20), row(["a", "y"], 1), row([null, "x"], 2)];
const groups = { rows } as unknown as Groups;
const texts = (group: GroupRow) => group.keys.map((key) => String(key ?? "(none)"));

test("the last key goes to the right, the largest column first", () => {
  const pivot = pivotOf(groups, 0, texts, 10);
  expect(pivot.columns.map(({ text }) => text)).toEqual(["y", "x"]);
  const cells = pivot.lines.map((line) => [
    line.texts[0],
    line.cells.map((it) => it?.values[0]?.now),
  ]);
  expect(cells).toEqual([
    ["a", [1, 5]],
    ["b", [20, undefined]],
    ["(none)", [undefined, 2]],
  ]);
  expect(pivot.most).toBe(20);
});

test("lines with sums are in the order of these", () => {
  const names = (sums: Parameters<typeof pivotOf>[4], most = 10) =>
    pivotOf(groups, 0, texts, most, sums).lines.map((line) => line.texts[0]);
  expect(names(null)).toEqual(["a", "b", "(none)"]);
  expect(names("largest first")).toEqual(["b", "a", "(none)"]);
  expect(names("largest first", 1)).toEqual(["b"]);
  expect(names("smallest first")).toEqual(["(none)", "a", "b"]);
});

test("sums are of what is there", () => {
  expect(sumOf([rows[0], undefined, rows[2]], 0)).toEqual({ now: 6, before: 2 });
  expect(sumOf([undefined], 0)).toEqual({ now: null, before: null });
  expect(pivotOf(groups, 0, texts, 1).lines).toHaveLength(1);
});
