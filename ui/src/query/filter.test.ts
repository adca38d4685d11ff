import { describe, expect, test } from "vitest";
import { filterOf, filterSql, inverted, parseFilter } from "./filter";

const sql = (
  column: string,
  operator: Parameters<typeof filterSql>[0]["operator"],
  values: string[],
  type?: "number" | "string" | "set",
) => filterSql({ column, operator, values }, type);

describe("filters as SQL", () => {
  test("write values as their column's type wants them", () => {
    expect(sql("status", "=", ["500"], "number")).toBe("status = 500");
    expect(sql("status", "=", ["500", "503"], "number")).toBe("status IN (500, 503)");
    expect(sql("status", "=", ["500 OR 1=1"], "number")).toBe("status = '500 OR 1=1'");
    expect(sql("service", "=", ["it's"], "string")).toBe("service = 'it''s'");
    expect(sql("tags", "has", ["a", "b"], "set")).toBe("includes_any(tags, 'a', 'b')");
  });

  test("quote names that are no plain ones", () => {
    expect(sql('a"b', "null", [])).toBe('"a""b" IS NULL');
    expect(sql("order", "!null", [])).toBe('"order" IS NOT NULL');
    expect(sql("http.status", "null", [])).toBe('"http.status" IS NULL');
  });

  test("take patterns as texts where somebody means a text", () => {
    expect(sql("m", "contains", ["50%_\\"], "string")).toBe("m ILIKE '%50\\%\\_\\\\%'");
  });

  test("negated ones keep the rows that lack the column", () => {
    expect(sql("s", "!=", ["a"], "string")).toBe("(s IS NULL OR s NOT IN ('a'))");
    expect(sql("s", "!has", ["a"], "set")).toBe("(s IS NULL OR includes_none(s, 'a'))");
  });
});

describe("filters from clicks and texts", () => {
  test("a value asks for itself", () => {
    expect(filterOf("a", null, "string").operator).toBe("null");
    expect(filterOf("a", [], "set").operator).toBe("empty");
    expect(filterOf("a", ["x", "y"], "vector")).toEqual({
      column: "a",
      operator: "has-all",
      values: ["x", "y"],
    });
    expect(filterOf("a", "x", "set").operator).toBe("has");
    expect(filterOf("a", 5, "number", true)).toEqual({
      column: "a",
      operator: "!=",
      values: ["5"],
    });
  });

  test("turn round where they have an opposite", () => {
    expect(inverted({ column: "a", operator: "<", values: ["1"] }).operator).toBe(">=");
    expect(inverted({ column: "a", operator: "starts", values: ["1"] }).operator).toBe("starts");
  });

  test("texts that are none are refused", () => {
    for (const text of ["", "a", "a =b", "a toString b", '"a = b'])
      expect(parseFilter(text)).toBeNull();
  });
});
