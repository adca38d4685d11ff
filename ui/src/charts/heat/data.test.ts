import { expect, test } from "vitest";
import type { Answer } from "../../api/types";
import { heatOf, rowValue, strengths } from "./data";

const buckets = { starts: [0, 60_000], end: 120_000 };
const at = (ms: number) => new Date(ms).toISOString();
const answer = (columns: string[], rows: Answer["rows"]) =>
  ({ columns: columns.map((name) => ({ name, type: "number" })), rows }) as unknown as Answer;

test("cells are placed by bucket and row, and others are left out", () => {
  const rows = [
    [at(0), 4, 10],
    [at(60_000), 6, 3],
    [at(120_000), 6, 3],
    [at(0), null, 5],
  ];
  const heat = heatOf(
    answer(["time", "row", "n"], rows),
    { log: true, step: 0.5 },
    buckets,
    60_000,
  );
  if (!heat) throw new Error("there are cells");
  expect([heat.lowest, heat.rows]).toEqual([4, 3]);
  expect([...heat.now]).toEqual([10, 0, 0, 0, 0, 3]);
  expect([rowValue(heat, 0), rowValue(heat, 2)]).toEqual([100, 1000]);
  expect(strengths(heat)[0]).toBe(1);
});

test("a comparison has both sides, and its strengths have signs", () => {
  const rows = [
    ["now", at(0), 1, 2],
    ["before", at(0), 1, 8],
    ["before", at(60_000), 2, 1],
  ];
  const columns = ["side", "time", "row", "n"];
  const heat = heatOf(answer(columns, rows), { log: false, step: 5 }, buckets, 60_000);
  if (!heat) throw new Error("there are cells");
  expect([...(heat.before ?? [])]).toEqual([8, 0, 0, 1]);
  expect(strengths(heat)[0]).toBe(-1);
  expect(rowValue(heat, 1)).toBe(10);
});

test("no cells are no picture", () => {
  expect(heatOf(answer(["time", "row", "n"], []), { log: false, step: 1 }, buckets, 1)).toBeNull();
});
