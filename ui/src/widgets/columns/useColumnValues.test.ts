import { expect, it } from "vitest";
import { bestValues } from "./useColumnValues";

it("finds values by any part of them, the likeliest first", () => {
  const values = ["/api/checkout", "recheck", "Checkout", "check", null, "cart"];
  const entries = values.map((value, at) => ({ value, count: 100 - at, samples: 1 }));
  const texts = (part: string) => bestValues(entries, part).map(({ value }) => value);
  expect(texts("check")).toEqual(["check", "Checkout", "/api/checkout", "recheck"]);
  expect(texts("")).toEqual(["/api/checkout", "recheck", "Checkout", "check", "cart"]);
});
