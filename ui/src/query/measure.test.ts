import { expect, it } from "vitest";
import { OPERATORS } from "./filter";
import {
  comparable,
  FUNCTIONS,
  isAdditive,
  isRate,
  measureLabel,
  measureParts,
  measureUnit,
  share,
  shareOf,
} from "./measure";
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

it("reads measures that have an alias", () => {
  expect(measureLabel('avg(status >= 500) AS "error rate"')).toBe("error rate");
  expect(measureLabel("p95(latency_us) AS slow")).toBe("slow");
  expect(measureParts("p95(latency_us) AS slow")).toEqual({ fn: "p95", column: "latency_us" });
  expect(isAdditive("count(*) AS n")).toBe(true);
  expect(isRate("per_second(count(*)) AS rps")).toBe(true);
});

it("knows shares and rates, and the units of measures", () => {
  expect(share(" status >= 500 ")).toBe("avg(status >= 500)");
  expect(shareOf('avg(status >= 500) AS "error rate"')).toBe("status >= 500");
  expect(shareOf("avg(level IN ('error', 'fatal'))")).toBe("level IN ('error', 'fatal')");
  for (const text of ["avg(status)", "avg(a) >= avg(b)", "avg(length('a >= b'))", "sum(a > 1)"]) {
    expect(shareOf(text), text).toBeNull();
  }
  expect(measureLabel("avg(status >= 500)")).toBe("share where status >= 500");
  expect(measureLabel("per_second(count(*))")).toBe("events per second");
  expect(measureUnit("avg(status >= 500)", [])).toBe("share");
  expect(measureUnit("p95(latency_us) AS slow", [])).toBe("us");
  expect(measureUnit("count(latency_us)", [])).toBeNull();
  expect(measureUnit("per_second(count(*))", [])).toBe("per second");
  const hour = { from: 0, to: 3_600_000 };
  expect(comparable("per_minute(count(*)) AS rpm", hour)).toBe("count(*) / 60");
  expect(comparable("avg(x)", hour)).toBe("avg(x)");
});
