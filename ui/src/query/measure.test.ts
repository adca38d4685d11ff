import { expect, it } from "vitest";
import { OPERATORS } from "./filter";
import { FUNCTIONS, measureLabel } from "./measure";
import { groupLabel } from "./sql";

it("has the words of the field", () => {
  expect(measureLabel("raw_count(*)")).toBe("rows");
  expect(measureLabel("approx_count_distinct(user_id)")).toBe("distinct count of user_id");
  expect(measureLabel("count(status)")).toBe("non-null status");
  expect(FUNCTIONS.map(({ label }) => label)).toContain("count of non-null");
  const labels = [">", ">=", "<", "<=", "null", "!null"] as const;
  expect(labels.map((it) => OPERATORS[it].label)).toEqual([
    ">",
    ">=",
    "<",
    "<=",
    "is null",
    "exists",
  ]);
  expect(['"odd name"', "length(m) AS n", "length(m)"].map(groupLabel)).toEqual([
    "odd name",
    "n",
    "length(m)",
  ]);
});
