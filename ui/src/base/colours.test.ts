import { expect, test } from "vitest";
import { strokesOf, textOn } from "./colours";

test("text on a colour is black or white, whichever contrasts more", () => {
  expect(textOn("#ffffff")).toBe("#000");
  expect(textOn("#000000")).toBe("#fff");
  // Between both ends the contrast is at least 4.58:1.
  expect(textOn("#757575")).toBe("#fff");
  expect(textOn("#777777")).toBe("#000");
});

test("ten series share no colour", () => {
  const names = Array.from({ length: 10 }, (_, at) => `series ${at}`);
  const colours = [...strokesOf(names).values()].map(({ colour }) => colour);
  expect(new Set(colours).size).toBe(10);
});
