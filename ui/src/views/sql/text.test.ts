import { expect, test } from "vitest";
import { laidOut, placeOf } from "./text";

test("clauses stand on lines of their own, but not in brackets and strings", () => {
  const sql =
    "SELECT a, count(*) FROM \"my FROM t\" WHERE b = ' WHERE ' AND (c GROUP BY d) LIMIT 5";
  expect(laidOut(sql)).toBe(
    "SELECT a, count(*)\nFROM \"my FROM t\"\nWHERE b = ' WHERE ' AND (c GROUP BY d)\nLIMIT 5",
  );
});

test("a byte of the text is the word at it", () => {
  const text = "SELECT é, latency FROM t";
  const at = (byte: number) => {
    const { from, to } = placeOf(text, byte);
    return text.slice(from, to);
  };
  expect(at(7)).toBe("é");
  expect(at(11)).toBe("latency");
  expect(at(new TextEncoder().encode(text).length)).toBe("t");
  expect(placeOf("", 0)).toEqual({ from: 0, to: 0 });
});
