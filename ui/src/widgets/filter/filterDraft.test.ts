import { describe, expect, it } from "vitest";
import {
  draftOf,
  draftProblem,
  finished,
  joined,
  newDraft,
  splitList,
  ticked,
  valueProblem,
  withOperator,
} from "./filterDraft";

const NOW = Date.parse("2026-11-21T08:00:00Z");
const STATUS = { name: "status", type: "number" } as const;

describe("splitList", () => {
  it("splits lines, else commas", () => {
    expect(splitList("a\r\nb, c\n\n a \n")).toEqual(["a", "b, c", "a"]);
    expect(splitList("a, b,,c\td , a")).toEqual(["a", "b", "c", "d", "a"]);
    expect(splitList('"a, b", "say ""hi"""')).toEqual(["a, b", 'say "hi"']);
    expect(splitList('a "b"')).toEqual(['a "b"']);
    expect(splitList(" , ")).toEqual([]);
  });
});

describe("drafts", () => {
  it("begin with the usual operator", () => {
    expect(newDraft("string").operator).toBe("=");
    expect(newDraft("time").operator).toBe(">=");
    expect(newDraft("vector").operator).toBe("has");
    expect(newDraft("null").operator).toBe("!null");
  });
  it("keep what was typed when the operator changes", () => {
    const many = { operator: "=", values: ["1", "2"], text: "" } as const;
    const one = withOperator(many, ">");
    expect(one).toEqual({ operator: ">", values: [], text: "1" });
    expect(withOperator(one, "!=")).toEqual({ operator: "!=", values: ["1"], text: "" });
    expect(withOperator(many, "!=").values).toEqual(["1", "2"]);
  });
  it("take several ticked values, and not the text that looked for them", () => {
    const first = ticked({ operator: "=", values: [], text: "check" }, "/api/checkout");
    const both = ticked(first, "/api/check");
    const path = { name: "path", type: "string" } as const;
    expect(both).toMatchObject({ text: "check", looksFor: true });
    expect(finished(both, path, NOW)?.values).toEqual(["/api/checkout", "/api/check"]);
    expect(finished(ticked(both, "/api/check"), path, NOW)?.values).toEqual(["/api/checkout"]);
    expect(finished({ ...both, looksFor: false }, path, NOW)?.values).toContain("check");
  });
  it("become filters", () => {
    expect(finished({ operator: "=", values: ["1"], text: " 2 " }, STATUS, NOW)?.values).toEqual([
      "1",
      "2",
    ]);
    expect(finished({ operator: "null", values: [], text: "x" }, STATUS, NOW)?.values).toEqual([]);
    expect(finished({ operator: "=", values: [], text: " " }, STATUS, NOW)).toBeNull();
    expect(finished({ operator: ">", values: [], text: "12a" }, STATUS, NOW)).toBeNull();
    const filter = { column: "status", operator: ">", values: ["3"] } as const;
    expect(finished(draftOf(filter), STATUS, NOW)).toEqual(filter);
  });
  it("repeat values only where a list may", () => {
    expect(joined("has", ["a"], ["b", "a"])).toEqual(["a", "b"]);
    expect(joined("is", ["a"], ["b", "a"])).toEqual(["a", "b", "a"]);
    const stack = { name: "stack", type: "vector" } as const;
    const frames = { operator: "is", values: ["f", "g"], text: "f" } as const;
    expect(finished(frames, stack, NOW)?.values).toEqual(["f", "g", "f"]);
  });
  it("keep texts as they are, times as moments", () => {
    const text = { name: "message", type: "string" } as const;
    const contains = { operator: "contains", values: [], text: " a " } as const;
    expect(finished(contains, text, NOW)?.values).toEqual([" a "]);
    const time = { name: "time", type: "time" } as const;
    const after = { operator: ">=", values: [], text: "-3h" } as const;
    expect(finished(after, time, NOW)?.values).toEqual(["2026-11-21T05:00:00.000Z"]);
  });
  it("say what is wrong in a sentence", () => {
    expect(valueProblem("abc", "number", NOW)).toBe("“abc” is not a number.");
    expect(valueProblem("-1.5e3", "number", NOW)).toBeNull();
    expect(valueProblem("soon", "time", NOW)).toMatch(/not a time/);
    expect(valueProblem("yes", "bool", NOW)).toBe("Write true or false.");
    expect(draftProblem({ operator: "=", values: ["1"], text: "" }, "number", NOW)).toBeNull();
  });
});
