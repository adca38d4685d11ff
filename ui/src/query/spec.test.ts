import { expect, it } from "vitest";
import type { Column } from "../api/types";
import { opening, type Question } from "./query";
import { type Asked, orderOf, tableSpec, valuesSpec } from "./spec";

const columns = [
  { name: "service", type: "string" },
  { name: "status", type: "number" },
] as Column[];

function asked(over: Partial<Question>): Asked {
  const question: Question = { ...opening("t"), ...over };
  return { question, columns, range: { from: 0, to: 3_600_000 } };
}

it("counts values of a column over what the question is about, but for the column itself", () => {
  const filters = [
    { column: "service", operator: "=", values: ["gateway"] } as const,
    { column: "status", operator: ">=", values: ["500"] } as const,
  ];
  const question = asked({ filters, search: "slow" });
  const typed = valuesSpec(question, { name: "service", type: "string" }, "50%_O'", 20);
  expect(typed).toMatchObject({ search: "slow", limit: 20, group_by: ["service"] });
  expect(typed.filter).toEqual(["status >= 500", "service ILIKE '50\\%\\_O''%'"]);
  const listed = valuesSpec(question, { name: "status", type: "number" }, "5", 20);
  expect(listed.filter).toEqual(["service = 'gateway'", "CAST(status AS string) ILIKE '5%'"]);
  expect(valuesSpec(asked({}), { name: "status", type: "number" }, "", 20).filter).toBeUndefined();
});

it("sorts a compared table by change, and any other by the measure then", () => {
  const order = { group: ["service"], order: "change count(*) asc" };
  const compared = asked({ ...order, compare: "7d" });
  expect(orderOf(compared.question)).toEqual({ by: "count(*)", ascending: true, change: true });
  expect(tableSpec(compared).order_by).toEqual(["count(*) DESC NULLS LAST"]);
  expect(orderOf(asked(order).question)).toMatchObject({ ascending: false, change: false });
});
