import { expect, test } from "vitest";
import { spanText } from "./zone";

test("a span has its day once, if it is within one", () => {
  const at = (text: string) => Date.parse(`2026-11-${text}Z`);
  expect(spanText({ from: at("27T15:00:00"), to: at("27T16:30:00") }, "UTC")).toBe(
    "2026-11-27 15:00 – 16:30",
  );
  expect(spanText({ from: at("27T15:00:00"), to: at("28T00:00:00") }, "UTC")).toBe(
    "2026-11-27 15:00 – 2026-11-28 00:00",
  );
});
