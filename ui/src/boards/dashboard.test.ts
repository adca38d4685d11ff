import { expect, test } from "vitest";
import type { Dashboard } from "../api/documents";
import {
  dashboardOfFile,
  dashboardUrl,
  fileText,
  frameOf,
  tablesOf,
  tileQuery,
  tileText,
  tileTitle,
  variableTarget,
  withTile,
} from "../query/dashboard";
import { readQuery } from "../query/url";
import { VIEWS } from "../views/registry";

const tile = {
  title: "Errors",
  query: "table=requests&view=time&filter=service = $service&filter=status >= 500&from=-7d",
  x: 0,
  y: 0,
  w: 6,
  h: 9,
};
const dashboard: Dashboard = {
  name: "Service health",
  from: "-3h",
  to: "now",
  compare: "7d",
  filters: ["datacenter = iad1"],
  variables: [{ name: "service", value: "" }],
  tiles: [tile],
};

const filters = (search: string, columns?: ReadonlySet<string>) =>
  tileQuery(tile, frameOf(dashboard, search), VIEWS, columns)?.filters.map(
    ({ column, operator, values }) => `${column} ${operator} ${values.join("|")}`,
  );

test("the SQL of a tile has the values of variables, and names that have none", () => {
  const sql = "a IN ($service) AND b = $other AND c = $__proto__ AND time >= $from";
  const inSql = {
    ...tile,
    query: `${new URLSearchParams({ table: "requests", view: "sql", sql })}`,
  };
  const asked = (search: string) =>
    tileQuery(inSql, frameOf(dashboard, search), VIEWS)?.view.options["sql"];
  expect(asked("")).toBe(sql);
  expect(asked("?var=service=a|it's")).toBe(sql.replace("$service", "'a', 'it''s'"));
});

test("a tile of SQL is not filtered again by what its text has", () => {
  const sql = "SELECT 1 FROM requests WHERE service IN ($service)";
  const keys = new URLSearchParams({ table: "requests", view: "sql", sql });
  keys.append("filter", "service = $service");
  const inSql = { ...tile, query: `${keys}` };
  const asked = (query: string) =>
    tileQuery({ ...tile, query }, frameOf(dashboard, "?var=service=a"), VIEWS)?.filters.map(
      ({ column }) => column,
    );
  expect(asked(inSql.query)).toEqual(["datacenter"]);
  expect(asked(inSql.query.replace("IN+%28%24service%29", "%3D+1"))).toEqual([
    "service",
    "datacenter",
  ]);
});

test("a tile that nobody names is called by its measures and groups", () => {
  const title = (keys: string) => {
    const { query } = readQuery(`?table=requests&${keys}`, VIEWS);
    return query && tileTitle(query, VIEWS);
  };
  const rate = 'show=avg(status >= 500) AS "error rate"';
  expect(title(`view=time&${rate}&by=service&by=datacenter`)).toBe(
    "error rate by service, datacenter",
  );
  expect(title("view=time&show=p95(latency_us)")).toBe("p95 of latency_us of requests");
  expect(title("view=distribution&of=latency_us")).toBe("Distribution of latency_us");
  expect(title("view=samples")).toBe("Samples of requests");
});

test("a tile asks of the time, the comparison and the filters of the dashboard", () => {
  const query = tileQuery(tile, frameOf(dashboard, ""), VIEWS);
  expect(query).toMatchObject({ from: "-3h", to: "now", compare: "7d", table: "requests" });
  const all = { ...dashboard, from: "all" };
  expect(tileQuery(tile, frameOf(all, ""), VIEWS)).toMatchObject({ from: "all", to: "now" });
  expect(filters("")).toEqual(["status >= 500", "datacenter = iad1"]);
  expect(filters("?from=-1d&to=-1h&filter=")).toEqual(["status >= 500"]);
  expect(filters("", new Set(["status"]))).toEqual(["status >= 500"]);
});

test("a variable stands for its values, and for nothing while it is empty", () => {
  expect(filters("?var=service=gateway|search")?.[0]).toBe("service = gateway|search");
  expect(filters("?var=service=a%5C%7Cb")?.[0]).toBe("service = a|b");
  expect(filters("?var=other=x")?.[0]).toBe("status >= 500");
});

test("the address of a dashboard has what was changed, and comes back as it was", () => {
  const usual = frameOf(dashboard, "");
  expect(dashboardUrl(dashboard, usual)).toBe("?page=dashboard&dashboard=Service+health");
  const changed = { ...usual, from: "-1d", compare: "", values: { service: "a&b=c|<script>" } };
  expect(frameOf(dashboard, dashboardUrl(dashboard, changed))).toEqual(changed);
  const none = { ...usual, filters: [] };
  expect(frameOf(dashboard, dashboardUrl(dashboard, none))).toEqual(none);
});

test("what is no range is the last day", () => {
  for (const search of ["?from=x", "?from=-1h&to=-2h"]) {
    expect(frameOf(dashboard, search)).toMatchObject({ from: "-1d", to: "now" });
  }
  expect(frameOf(dashboard, "?compare=x").compare).toBe("");
});

test("a query becomes a tile without what the dashboard shares", () => {
  const { query } = readQuery("?table=t&view=pie&by=a&from=-3h&compare=7d&refresh=5s", VIEWS);
  expect(query && tileText(query, VIEWS)).toBe("table=t&view=pie&by=a");
});

test("a new tile goes beside the last one, or below all", () => {
  const two = withTile(dashboard, "Second", "table=t");
  expect(two.tiles[1]).toMatchObject({ x: 6, y: 0, w: 6, h: 9, title: "Second" });
  expect(withTile(two, "", "table=t").tiles[2]).toMatchObject({ x: 0, y: 9 });
});

test("a file has a dashboard, or none", () => {
  expect(dashboardOfFile(fileText(dashboard))).toEqual(dashboard);
  for (const text of ["", "[]", "null", '{"name": "x"}']) expect(dashboardOfFile(text)).toBeNull();
});

test("tables and the columns of variables are those of the tiles", () => {
  const more = withTile(withTile(dashboard, "", "table=u"), "", "table=u");
  expect(tablesOf(more)).toEqual(["u", "requests"]);
  const target = (variable: { name: string }) => variableTarget(dashboard, variable, VIEWS);
  expect(target({ name: "service" })).toEqual({ table: "requests", column: "service" });
  expect(target({ name: "no" })).toBeNull();
});
