import { expect, it } from "vitest";
import type { Column } from "../api/types";
import { defaultQuery, type Query } from "./query";
import { type ResolvedQuery, valuesSpec } from "./spec";

const columns = [
  { name: "service", type: "string" },
  { name: "status", type: "number" },
] as Column[];

function resolved(over: Partial<Query>): ResolvedQuery {
  const query: Query = { ...defaultQuery("t"), ...over };
  return { query, columns, range: { from: 0, to: 3_600_000 } };
}

it("counts values of a column over what the query is about, but for the column itself", () => {
  const filters = [
    { column: "service", operator: "=", values: ["gateway"] } as const,
    { column: "status", operator: ">=", values: ["500"] } as const,
  ];
  const query = resolved({ filters, search: "slow" });
  const typed = valuesSpec(query, { name: "service", type: "string" }, "50%_O'", 20);
  expect(typed).toMatchObject({ search: "slow", limit: 20, group_by: ["service"] });
  expect(typed.filter).toEqual(["status >= 500", "service ILIKE '50\\%\\_O''%'"]);
  const listed = valuesSpec(query, { name: "status", type: "number" }, "5", 20);
  expect(listed.filter).toEqual(["service = 'gateway'", "CAST(status AS string) ILIKE '5%'"]);
  expect(
    valuesSpec(resolved({}), { name: "status", type: "number" }, "", 20).filter,
  ).toBeUndefined();
});
