import { expect, test } from "vitest";
import { constantsOf, replacePlaceholders, withRangeEnds } from "./placeholders";

test("the ends of the range are constants of time", () => {
  const range = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 2) };
  expect(withRangeEnds("time >= $from AND time < $to", range)).toBe(
    "time >= TIMESTAMP '2026-01-01T00:00:00.000Z' AND time < TIMESTAMP '2026-01-02T00:00:00.000Z'",
  );
});

test("quotes, comments and unknown names stay as they are", () => {
  const sql = `SELECT '$from', "$from" -- $from\n, $other /* $to */, $from_a, '''$from', $1`;
  expect(withRangeEnds(sql, { from: 0, to: 1 })).toBe(sql);
});

test("values are a list of constants, whatever is in them", () => {
  expect(constantsOf(["a", "it's"])).toBe("'a', 'it''s'");
  expect(constantsOf([])).toBeUndefined();
  const text = constantsOf(["$from", "$&"]);
  expect(replacePlaceholders("x IN ($v)", () => text)).toBe("x IN ('$from', '$&')");
});
