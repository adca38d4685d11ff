import { expect, it } from "vitest";
import type { Answer, AnswerColumn, Cell } from "../../api/types";
import { defaultQuery } from "../../query/query";
import { chosenPlaces, columnOrder, drawnRows, rowKey, rowObject } from "./sampleTable";

function answer(columns: [string, AnswerColumn["type"]][], rows: Cell[][]): Answer {
  return { columns: columns.map(([name, type]) => ({ name, type })), rows } as unknown as Answer;
}

const COLUMNS: [string, AnswerColumn["type"]][] = [
  ["time", "time"],
  ["code", "number"],
  ["note", "string"],
  ["text", "string"],
  ["none", "string"],
];
const row = (n: number): Cell[] => [`2026-11-21T00:00:0${n}Z`, n, "a", `a long text ${n}`, null];

it("orders columns: time, hits, what the query names, then short ones; empty ones not", () => {
  const rows = answer(COLUMNS, [row(1), row(2)]);
  const names = (over = {}) =>
    columnOrder(rows, { ...defaultQuery("t"), ...over }).map((at) => COLUMNS[at]?.[0]);
  expect(names()).toEqual(["time", "note", "code", "text"]);
  expect(names({ search: "LONG" })).toEqual(["time", "text", "note", "code"]);
  expect(names({ group: ["code"] })).toEqual(["time", "code", "note", "text"]);
  const kept = columnOrder(rows, defaultQuery("t"), ["code", "time"]).map((at) => COLUMNS[at]?.[0]);
  expect(kept).toEqual(["code", "time", "note", "text"]);
  expect(names({ measures: ["p95(text)"] })).toEqual(["time", "text", "note", "code"]);
});

it("knows a row again wherever it is, and keeps those being read", () => {
  const before = answer(COLUMNS, [row(2), row(1)]);
  const after = answer(COLUMNS, [row(3), row(3), row(2)]);
  expect(rowKey(before.rows[0] ?? [], before)).toBe(rowKey(after.rows[2] ?? [], after));
  const kept = new Map([1, 2].map((n) => [rowKey(row(n), before), row(n)]));
  const drawn = drawnRows(after, 100, kept);
  expect(drawn.map((it) => it.row[1])).toEqual([3, 3, 2, 1]);
  expect(new Set(drawn.map((it) => it.id)).size).toBe(4);
  const wider = answer([...COLUMNS, ["late", "string"]], [[...row(2), null]]);
  expect(rowKey(wider.rows[0] ?? [], wider)).toBe(rowKey(row(2), before));
});

it("shows chosen columns in their order, and the usual ones where none of them is there", () => {
  const answer = { columns: ["time", "a", "b"].map((name) => ({ name })) } as unknown as Answer;
  expect(chosenPlaces(answer, ["b", "gone", "time"], [0, 1, 2])).toEqual([2, 0]);
  expect(chosenPlaces(answer, ["gone"], [0, 1, 2])).toEqual([0, 1, 2]);
});

it("copies a row with whatever names its columns have", () => {
  const columns = ["a", "__proto__", "b"].map((name) => ({ name }));
  const text = JSON.stringify(rowObject([1, "x", null], { columns } as unknown as Answer));
  expect(text).toBe('{"a":1,"__proto__":"x"}');
});
