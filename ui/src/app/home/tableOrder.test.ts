import { expect, test } from "vitest";
import type { Table } from "../../api/types";
import { listed, nextSort, retentionWords } from "./tableOrder";

const table = (name: string, rows: number, last_time: string | null): Table =>
  ({ name, rows, last_time, block_bytes: rows * 2, age_limit_days: 30 }) as Table;
const tables = [
  table("requests", 10, "2026-11-28T15:00:00Z"),
  table("Audit", 30, null),
  table("events", 20, "2026-11-28T16:00:00Z"),
];
const names = (by: "name" | "rows" | "newest", ascending: boolean, text = "") =>
  listed(tables, text, { by, ascending }).map(({ name }) => name);

test("tables are sorted by each heading, those without rows as the oldest", () => {
  expect(names("rows", false)).toEqual(["Audit", "events", "requests"]);
  expect(names("newest", false)).toEqual(["events", "requests", "Audit"]);
  expect(names("name", true)).toEqual(["Audit", "events", "requests"]);
});

test("a part of the name is enough, whatever the case", () => {
  expect(names("rows", false, " AUD ")).toEqual(["Audit"]);
  expect(names("rows", false, "zzz")).toEqual([]);
});

test("a second press turns the order round", () => {
  expect(nextSort({ by: "rows", ascending: false }, "rows").ascending).toBe(true);
  expect(nextSort({ by: "rows", ascending: false }, "name")).toEqual({
    by: "name",
    ascending: true,
  });
});

test("retention is a number of days, or has no limit", () => {
  expect(retentionWords(table("a", 0, null))).toBe("30 days");
  expect(retentionWords({ ...table("a", 0, null), age_limit_days: null })).toBe("no age limit");
});
