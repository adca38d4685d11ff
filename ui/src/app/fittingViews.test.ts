import { IconTable } from "@tabler/icons-react";
import { expect, test } from "vitest";
import { defaultQuery } from "../query/query";
import type { ViewManifest } from "../query/viewManifest";
import { fittingViews, ROW_MOST, rowOf } from "./fittingViews";

const view = (kind: string, fits: boolean, suggested = false): ViewManifest => ({
  kind,
  name: kind,
  icon: IconTable,
  options: [],
  shows: [],
  plan: () => (fits ? { spec: { table: "t" } } : { misfit: "Needs more." }),
  suggests: () => suggested,
  component: () => null,
});
const resolved = { query: defaultQuery("t"), columns: [], range: { from: 0, to: 1 } };
const kinds = (views: ViewManifest[], shown: string) =>
  rowOf(fittingViews(resolved, views), shown).map((it) => it.view.kind);

test("views that fit stand in the row, in their order, and the one that is shown", () => {
  const views = [view("a", true), view("b", false), view("c", true), view("d", false)];
  expect(kinds(views, "a")).toEqual(["a", "c"]);
  expect(kinds(views, "d")).toEqual(["a", "c", "d"]);
  expect(fittingViews(resolved, views)[1]?.misfit).toBe("Needs more.");
});

test("a view that stands apart is after the row, and takes no place of it", () => {
  const sql = { ...view("sql", true), apart: true as const };
  expect(kinds([sql, view("a", true)], "sql")).toEqual(["a", "sql"]);
  const many = Array.from({ length: 12 }, (_, at) => view(`v${at}`, true));
  expect(kinds([...many, sql], "v0")).toHaveLength(ROW_MOST + 1);
});

test("a suggested view is in the row however many fit, and a misfit is never suggested", () => {
  const many = Array.from({ length: 12 }, (_, at) => view(`v${at}`, true, at === 11));
  const row = kinds(many, "v10");
  expect(row).toHaveLength(ROW_MOST);
  expect(row.slice(-2)).toEqual(["v10", "v11"]);
  expect(row[0]).toBe("v0");
  expect(fittingViews(resolved, [view("a", false, true)])[0]?.suggested).toBe(false);
});
