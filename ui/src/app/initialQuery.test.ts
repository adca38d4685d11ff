import { expect, test } from "vitest";
import type { Table } from "../api/types";
import { defaultQuery } from "../query/query";
import { busiest, withRange } from "./initialQuery";

const now = Date.parse("2026-11-29T12:00:00Z");
const table = (name: string, rows: number) =>
  ({ name, rows, first_time: "2026-11-01T00:00:00Z", last_time: "2026-11-29T12:00:00Z" }) as Table;
const tables = [table("_queries", 100), table("few", 1), table("many", 9)];

test("an address without a table asks for that of users with most rows", () => {
  expect(busiest(tables)?.name).toBe("many");
  expect(busiest(tables.slice(0, 1))).toBeUndefined();
});

test("a range is filled in only where there is none", () => {
  const query = defaultQuery("few");
  expect(withRange(query, tables, now)).toMatchObject({ table: "few", from: "-1d" });
  expect(withRange({ ...query, from: "-3h" }, tables, now)).toBeNull();
  expect(withRange(defaultQuery("none"), tables, now)).toBeNull();
});
