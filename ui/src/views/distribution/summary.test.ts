import { expect, it } from "vitest";
import type { Answer, Cell } from "../../api/types";
import { boundsOf, statisticsOf } from "./summary";

const names = ["smallest", "largest", "p01", "p50", "p99", "whole"];
const answerOf = (...rows: Cell[][]) =>
  ({
    columns: [...(rows.length > 1 ? ["side"] : []), ...names].map((name) => ({ name })),
    rows,
  }) as unknown as Answer;

it("draws the middle of both sides, or all values", () => {
  const now: Cell[] = ["now", 0, 1000, 10, 50, 90, true];
  const before: Cell[] = ["before", -5, 400, 2, 50, 300, false];
  const answer = answerOf(now, before);
  expect(boundsOf(answer, true)?.values).toMatchObject({ low: -5, high: 1000, whole: false });
  const middle = boundsOf(answer, false);
  expect(middle?.values.low).toBeLessThanOrEqual(2);
  expect(middle?.values.high).toBeGreaterThanOrEqual(300);
  expect(statisticsOf(answer).before?.("largest")).toBe(400);
  expect(statisticsOf(answerOf(now.slice(1))).before).toBeNull();
});

it("keeps the digits of large numbers, and has no bounds without values", () => {
  const large = "123456789012345678901";
  const one = answerOf([large, large, large, large, large, true]);
  expect(boundsOf(one, true)).toMatchObject({ least: large, most: large });
  expect(boundsOf(answerOf([null, null, null, null, null, null]), true)).toBeNull();
});

it("shows percentiles of whole numbers as whole ones", () => {
  const percentile = (whole: boolean, cell: Cell) =>
    statisticsOf(answerOf([1, 9, 1.008, cell, 9, whole])).now("p50");
  expect(percentile(true, 5.031)).toBe(5);
  expect(percentile(false, 5.031)).toBe(5.031);
  expect(percentile(true, "123456789012345678901")).toBe("123456789012345678901");
  expect(percentile(true, null)).toBeNull();
});
