import { expect, test } from "vitest";
import {
  definitionText,
  parseDefinition,
  renamed,
  withDefinition,
  withoutDefinition,
} from "./definition";
import { defaultQuery } from "./query";

test("a definition is read from its text", () => {
  for (const definition of [
    { name: "seconds", sql: "latency_us / 1000000" },
    { name: 'so "called"', sql: "a = 'b = c'" },
    { name: "__proto__", sql: "1" },
    { name: "select", sql: "x\n-- y" },
  ]) {
    expect(parseDefinition(definitionText(definition))).toEqual(definition);
  }
  for (const none of ["", "a", "a =", "= b", "1a = b", "a b = c"]) {
    expect(parseDefinition(none)).toBeNull();
  }
});

test("a definition replaces its namesake, and takes its groups and filters with it", () => {
  const once = withDefinition(defaultQuery("t"), { name: "a", sql: "1" });
  const twice = withDefinition(once, { name: "a", sql: "2" });
  expect(twice.define).toEqual([{ name: "a", sql: "2" }]);
  const used = {
    ...twice,
    group: ["a", "b"],
    filters: [{ column: "a", operator: "null" as const, values: [] }],
  };
  const named = renamed(used, "a", "A b");
  expect([named.define[0]?.name, named.group[0], named.filters[0]?.column]).toEqual([
    "A b",
    '"A b"',
    "A b",
  ]);
  expect(withoutDefinition(used, "a")).toEqual({ ...defaultQuery("t"), group: ["b"] });
});
