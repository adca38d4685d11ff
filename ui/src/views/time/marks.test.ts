import { expect, test } from "vitest";
import type { Answer } from "../../api/types";
import { markSource, marksOf, marksSpec, sourceText } from "./marks";

const range = { from: Date.parse("2026-11-28T10:00:00Z"), to: Date.parse("2026-11-28T11:00:00Z") };
const table = { time_column: "at" };

test("a source is a table, and perhaps the column that names its rows", () => {
  expect(markSource("deploys")).toEqual({ table: "deploys", column: "" });
  expect(markSource("ops.deploys build version")).toEqual({
    table: "ops.deploys",
    column: "build version",
  });
  expect(markSource("  ")).toBeNull();
  for (const text of ["deploys", "ops.deploys version"]) {
    const source = markSource(text);
    expect(source && sourceText(source)).toBe(text);
  }
});

test("the rows of the range are asked for by their own time", () => {
  expect(marksSpec(markSource("deploys version"), table, range)).toEqual({
    table: "deploys",
    from: "2026-11-28T10:00:00.000Z",
    to: "2026-11-28T11:00:00.000Z",
    columns: ["at", "version"],
    order_by: ["at"],
    limit: 100,
  });
  expect(marksSpec(markSource("deploys"), undefined, range)).toBeNull();
});

test("a mark without a name is called as its table", () => {
  const answer = {
    columns: [{ type: "time" }, { type: "string" }],
    rows: [
      ["2026-11-28T10:30:00Z", "r7"],
      ["2026-11-28T10:40:00Z", null],
    ],
  } as unknown as Answer;
  const source = { table: "deploys", column: "version" };
  expect(marksOf(answer, source, "UTC").map(({ label }) => label)).toEqual(["r7", "deploys"]);
});
