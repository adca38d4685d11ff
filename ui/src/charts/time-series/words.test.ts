import { expect, it } from "vitest";
import { lengthWords } from "./words";

it("says lengths in their two largest units", () => {
  expect(lengthWords(42 * 60_000)).toBe("42 minutes");
  expect(lengthWords(3_600_000)).toBe("1 hour");
  expect(lengthWords(5_400_000)).toBe("1 hour 30 minutes");
  expect(lengthWords(86_400_000 * 3 + 3_600_000 * 4 + 60_000)).toBe("3 days 4 hours");
  expect(lengthWords(86_400_000 + 60_000)).toBe("1 day");
  expect(lengthWords(250)).toBe("250 ms");
});
