import { expect, it } from "vitest";
import { spanWords } from "./duration";

it("has the two largest units of a span", () => {
  const words = [-5, 400, 59_600, 200_000, 3_600_000, 7_500_000, 90_000_000, 345_600_000];
  expect(words.map(spanWords)).toEqual([
    "0 s",
    "0 s",
    "1 min",
    "3 min 20 s",
    "1 h",
    "2 h 5 min",
    "1 d 1 h",
    "4 d",
  ]);
});
