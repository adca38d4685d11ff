import { expect, test } from "vitest";
import { plainColumns } from "./plainColumns";

const isColumn = (name: string) => ["service", "Data Center", "time"].includes(name);
const shown = (sql: string, ...names: string[]) => plainColumns(sql, "requests", names, isColumn);

test("a column of the table is one, also under another name", () => {
  const sql =
    'SELECT service AS s, "Data Center", count(*), upper(service) AS service, time::string ' +
    "FROM requests -- all\nWHERE a = 'FROM t' GROUP BY 1, 2";
  expect(shown(sql, "s", "Data Center", "count(*)", "service", "t")).toEqual([
    "service",
    "Data Center",
    null,
    null,
    null,
  ]);
  expect(shown("select distinct service from requests;", "service")).toEqual(["service"]);
  expect(shown('SELECT * FROM "requests" LIMIT 5', "time", "service::set")).toEqual(["time", null]);
});

test("where rows may come from elsewhere, nothing is a column of the table", () => {
  for (const sql of [
    "SELECT service FROM other",
    "SELECT service FROM requests r JOIN t ON a = b",
    "SELECT service FROM (SELECT upper(service) AS service FROM requests)",
    "WITH requests AS (SELECT 1) SELECT service FROM requests",
    "SELECT service FROM requests UNION SELECT kind FROM requests",
    "SHOW TABLES",
    "SELECT service, kind FROM requests",
    "",
  ]) {
    expect(shown(sql, "service")).toEqual([null]);
  }
});
