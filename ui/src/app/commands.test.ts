import { expect, test } from "vitest";
import type { Table } from "../api/types";
import { defaultQuery, type Query } from "../query/query";
import { type CommandContext, commandsOf, matching } from "./commands";

const nothing = () => {};
const context = (commit: (query: Query) => void): CommandContext => ({
  query: { ...defaultQuery("requests"), from: "-3h" },
  columns: [],
  tables: [{ name: "processes" } as Table],
  recent: ["?table=requests&from=-3h", "?table=requests&view=area&from=-1h&by=service"],
  now: 0,
  commit,
  again: nothing,
  help: nothing,
  open: nothing,
  go: nothing,
  dashboards: ["Service health"],
  savedViews: [{ name: "Shares", query: "table=requests&view=pie" }],
  importFile: nothing,
});

test("commands are what has all words of the text, those that begin with it first", () => {
  const asked: Query[] = [];
  const commands = commandsOf(context((query) => asked.push(query)));
  expect(matching(commands, "heat")[0]?.label).toBe("Heat map");
  expect(matching(commands, "tables proc").map(({ label }) => label)).toEqual(["processes"]);
  expect(matching(commands, "no such thing")).toEqual([]);
  matching(commands, "stacked area view")[0]?.run();
  expect(asked[0]?.view.kind).toBe("area");
});

test("all pages are commands, with dashboards and saved views by name", () => {
  const shown: string[] = [];
  const show = { open: (page: string) => shown.push(page), go: (url: string) => shown.push(url) };
  const commands = commandsOf({ ...context(nothing), ...show });
  const labels = commands.filter(({ section }) => section === "Pages").map(({ label }) => label);
  expect(labels).toEqual(["Home", "Dashboards and saved views", "Functions", "Cluster"]);
  matching(commands, "cluster")[0]?.run();
  matching(commands, "dashboards service")[0]?.run();
  matching(commands, "saved shares")[0]?.run();
  expect(shown).toEqual([
    "cluster",
    "?page=dashboard&dashboard=Service+health",
    "?table=requests&view=pie",
  ]);
});

test("the last queries come first, without the one that is shown", () => {
  const commands = commandsOf(context(nothing));
  expect(commands[0]?.label).toBe("requests · Stacked area · Last 1 hour · by service");
  expect(commands[1]?.section).toBe("Actions");
});
