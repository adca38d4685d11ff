import { expect, test } from "vitest";
import type { Answer, Cell, Type } from "../../api/types";
import { barsOf, lineOf, pictureOf, picturesOf } from "./shape";

const answer = (columns: [string, Type][], rows: Cell[][]) =>
  ({ columns: columns.map(([name, type]) => ({ name, type })), rows }) as unknown as Answer;

const hour = (at: number) => new Date(at * 3_600_000).toISOString();

test("numbers by time are lines, with gaps where there is no row", () => {
  const result = answer(
    [
      ["h", "time"],
      ["service", "string"],
      ["n", "number"],
    ],
    [
      [hour(0), "a", 1],
      [hour(1), "a", 2],
      [hour(3), "b", 5],
    ],
  );
  expect(picturesOf(result)).toEqual(["table", "line"]);
  const chart = lineOf(result);
  expect(chart?.step).toBe(3_600_000);
  expect(chart?.series.map(({ label, values }) => [label, values])).toEqual([
    ["a", [1, 2, null, null]],
    ["b", [null, null, null, 5]],
  ]);
});

test("times without a common step are a table", () => {
  const rows = ["00:00:00.000", "00:00:00.001", "23:00:00.000"].map((it): Cell[] => [
    `2026-01-01T${it}Z`,
    1,
  ]);
  const result = answer(
    [
      ["t", "time"],
      ["n", "number"],
    ],
    rows,
  );
  expect(lineOf(result)).toBeNull();
  expect(pictureOf(result, "line")).toBe("table");
});

test("numbers of a text are bars, and a row of numbers is large numbers", () => {
  const groups = answer(
    [
      ["__proto__", "string"],
      ["n", "number"],
    ],
    [
      ["x", 1],
      [null, null],
    ],
  );
  expect(pictureOf(groups, "")).toBe("bar");
  expect(barsOf(groups)[0]?.bars.map(({ label, value }) => [label, value])).toEqual([
    ["x", 1],
    ["(none)", null],
  ]);
  expect(pictureOf(answer([["n", "number"]], [[7]]), "")).toBe("number");
  expect(pictureOf(answer([["s", "string"]], [["x"]]), "bar")).toBe("table");
});
