import { expect, test } from "vitest";
import type { Dashboard } from "../api/documents";
import { readQuery } from "../query/url";
import { VIEWS } from "../views/registry";
import { filteredBy, nameMistake, nameOfColumn, withoutVariable, withVariable } from "./variables";

const tile = (query: string) => ({ query, x: 0, y: 0, w: 6, h: 9 });
const dashboard: Dashboard = {
  name: "d",
  variables: [{ name: "service", value: "a", table: "requests", column: "service" }],
  tiles: [tile("table=requests&filter=service = $service|b&filter=status >= 500"), tile("table=t")],
};
const filters = ({ tiles }: Dashboard) =>
  tiles.map(({ query }) =>
    readQuery(`?${query}`, VIEWS).query?.filters.map(({ column, values }) => [column, ...values]),
  );

test("a renamed variable keeps its value, and its name in the tiles changes with it", () => {
  const next = { name: "app", table: "requests", column: "service" };
  const renamed = withVariable(dashboard, next, "service", VIEWS);
  expect(renamed.variables).toEqual([{ ...next, value: "a" }]);
  expect(filters(renamed)).toEqual([
    [
      ["service", "$app", "b"],
      ["status", "500"],
    ],
    [],
  ]);
  expect(renamed.tiles[1]).toBe(dashboard.tiles[1]);
});

test("a renamed variable is renamed in the SQL of a tile, but for its quotes", () => {
  const sql = "SELECT '$service' WHERE a IN ($service)";
  const query = `${new URLSearchParams({ table: "requests", view: "sql", sql })}`;
  const inSql = { ...dashboard, tiles: [tile(query)] };
  const [renamed] = withVariable(inSql, { name: "app" }, "service", VIEWS).tiles;
  const read = readQuery(`?${renamed?.query}`, VIEWS).query;
  expect(read?.view.options["sql"]).toBe("SELECT '$service' WHERE a IN ($app)");
});

test("a removed variable takes its filters with it", () => {
  const without = withoutVariable(dashboard, "service", VIEWS);
  expect(without.variables).toEqual([]);
  expect(filters(without)).toEqual([[["status", "500"]], []]);
});

test("a new variable filters the tiles of its table, each once", () => {
  const host = { name: "host", table: "t", column: "host" };
  const added = withVariable(dashboard, host, null, VIEWS);
  expect(added.variables?.map(({ name }) => name)).toEqual(["service", "host"]);
  const filtered = filteredBy(filteredBy(added, host, VIEWS), host, VIEWS);
  expect(filters(filtered)[1]).toEqual([["host", "$host"]]);
  expect(filtered.tiles[0]).toBe(dashboard.tiles[0]);
});

test("the name of a variable is a word of its own", () => {
  expect(nameMistake("app_2", ["service"])).toBeNull();
  expect(nameMistake("service", ["service"])).not.toBeNull();
  for (const wrong of ["", "from", "2a", "A", "a b", "$a"])
    expect(nameMistake(wrong, [])).not.toBeNull();
  for (const column of ["Data Center", "5xx", "host"]) {
    expect(nameMistake(nameOfColumn(column), [])).toBeNull();
  }
});
