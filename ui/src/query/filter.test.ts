import { describe, expect, test } from "vitest";
import type { Cell, Type } from "../api/types";
import { filterOf, filterSql, filterText, inverted, parseFilter } from "./filter";

const sql = (
  column: string,
  operator: Parameters<typeof filterSql>[0]["operator"],
  values: string[],
  type?: "number" | "string" | "set" | "vector",
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

  test("take several beginnings and ends of a text", () => {
    expect(sql("path", "starts", ["/api_", "it's"], "string")).toBe(
      "(path ILIKE '/api\\_%' OR path ILIKE 'it''s%')",
    );
    expect(sql("path", "ends", [".js"], "string")).toBe("path ILIKE '%.js'");
    expect(sql("stack", "starts", ["a", "b"], "vector")).toBe("includes_start(stack, 'a', 'b')");
  });

  test("tell lists that are exactly these from those that have them", () => {
    expect(sql("tags", "is", ["a", "it's", "a"], "set")).toBe(
      "(includes_all(tags, 'a', 'it''s') AND cardinality(tags) = 2)",
    );
    expect(sql("stack", "is", ["f", "f"], "vector")).toBe(
      "(includes_start(stack, 'f', 'f') AND cardinality(stack) = 2)",
    );
    expect(sql("tags", "!is", ["a"], "set")).toBe(
      "(tags IS NULL OR NOT (includes_all(tags, 'a') AND cardinality(tags) = 1))",
    );
    expect(sql("tags", "is", [], "set")).toBe("is_empty(tags)");
    expect(sql("tags", "!empty", [], "set")).toBe("(tags IS NULL OR NOT is_empty(tags))");
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
      operator: "is",
      values: ["x", "y"],
    });
    expect(filterOf("a", "x", "set").operator).toBe("has");
    expect(filterOf("a", 5, "number", true)).toEqual({
      column: "a",
      operator: "!=",
      values: ["5"],
    });
  });

  test("every value has a filter for all others", () => {
    const others = (value: Cell, type: Type) => filterOf("a", value, type, true).operator;
    expect(others(null, "string")).toBe("!null");
    expect(others([], "set")).toBe("!empty");
    expect(others(["x"], "set")).toBe("!is");
    expect(others("x", "vector")).toBe("!has");
    expect(others(true, "bool")).toBe("!=");
  });

  test("lists come back from the URL element by element", () => {
    for (const values of [[], [""], ["", ""], ["a|b", "c\\", "'", ",", " "]]) {
      const filter = { column: "tags", operator: "is" as const, values };
      expect(parseFilter(filterText(filter))).toEqual(filter);
    }
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
