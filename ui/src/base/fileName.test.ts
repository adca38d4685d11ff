import { expect, test } from "vitest";
import { fileName } from "./fileName";

const of = (table: string, view = "table") =>
  fileName(
    { table, view, from: Date.UTC(2026, 10, 28, 14, 5), to: Date.UTC(2026, 10, 28, 15) },
    "csv",
  );

test("a file is named by its table, its view and its time", () => {
  expect(of("requests")).toBe("requests-table-20261128T1405Z-20261128T1500Z.csv");
});

test("a name of a table cannot leave the folder, nor be without end", () => {
  expect(of("../../etc/passwd")).toBe("etc-passwd-table-20261128T1405Z-20261128T1500Z.csv");
  expect(of("Größe 日本 a:b?")).toMatch(/^Größe-日本-a-b-table-/);
  expect(of("x".repeat(300))).toMatch(/^x{60}-table-/);
  expect(of("…")).toMatch(/^table-table-/);
});
