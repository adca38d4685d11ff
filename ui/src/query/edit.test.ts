import { describe, expect, test } from "vitest";
import type { Column } from "../api/types";
import {
  elementsFilter,
  exclude,
  excludeGroups,
  excludeRange,
  only,
  onlyGroups,
  type PickedValue,
  pickOf,
  picksOf,
} from "./edit";
import { filterText } from "./filter";
import { defaultQuery, type Query } from "./query";

const query = defaultQuery("t");
const app = (value: PickedValue["value"]): PickedValue => ({
  column: "app",
  value,
  type: "string",
});
const status = (value: number): PickedValue => ({ column: "status", value, type: "number" });
const texts = (query: Query) => query.filters.map(filterText);

describe("the rows of a group", () => {
  test("are those with all its values, of columns and of expressions", () => {
    const picks = picksOf(["app", "length(m) AS n"], ["web", 3], ["string", "number"], []);
    const one = only(query, picks);
    expect(texts(one)).toEqual(["app = web"]);
    expect(one.where).toBe("(length(m)) = 3");
    const two = only({ ...one, where: "a = 1 OR b = 2" }, picks);
    expect(two.where).toBe("(a = 1 OR b = 2) AND (length(m)) = 3");
  });

  test("of a list are those with exactly this list", () => {
    expect(texts(only(query, [{ column: "tags", value: ["a|b", ""], type: "set" }]))).toEqual([
      "tags is a\\|b|",
    ]);
    expect(texts(exclude(query, [{ column: "tags", value: [], type: "set" }]))).toEqual([
      "tags !empty",
    ]);
  });

  test("of a further kind of a column are asked of that kind", () => {
    const column = { name: "x", type: "number", parts: [] as unknown[] } as Column;
    expect(pickOf([column], "x::set", ["a"], "set").expression).toBe("x::set");
    expect(pickOf([column, { ...column, name: "x::set" }], "x::set", [], "set")).toEqual({
      column: "x::set",
      value: [],
      type: "set",
    });
    const parts = [
      { kind: "number" as const, rows: 2 },
      { kind: "set" as const, rows: 1 },
    ];
    expect(pickOf([{ ...column, parts }], "x", null, "number").expression).toBe("x::number");
  });

  test("without a group of several values lack one of them", () => {
    expect(exclude(query, [app("web"), status(200)]).where).toBe(
      "((app IS NULL OR app NOT IN ('web')) OR (status IS NULL OR status NOT IN (200)))",
    );
  });
});

describe("the rows of other groups", () => {
  test("of one column have none of the shown values; null only where it is not shown", () => {
    expect(texts(excludeGroups(query, [[app("a|b")], [app("c")]]))).toEqual(["app != a\\|b|c"]);
    expect(texts(excludeGroups(query, [[app("a")], [app(null)]]))).toEqual([
      "app != a",
      "app !null",
    ]);
    expect(texts(excludeGroups(query, [[app(null)]]))).toEqual(["app !null"]);
  });

  test("of a list are none of the shown lists", () => {
    const tags = (value: string[]): PickedValue => ({ column: "tags", value, type: "set" });
    const others = excludeGroups(query, [[tags(["a", "b"])], [tags([])], [tags(["a"])]]);
    expect(texts(others)).toEqual(["tags !is a|b", "tags !empty", "tags !is a"]);
  });

  test("of several columns are outside of each shown group", () => {
    const { where, filters } = excludeGroups(query, [
      [app("web"), status(200)],
      [app(null), status(500)],
    ]);
    expect(filters).toEqual([]);
    expect(where).toBe(
      "((app IS NULL OR app NOT IN ('web')) OR (status IS NULL OR status NOT IN (200))) AND " +
        "(app IS NOT NULL OR (status IS NULL OR status NOT IN (500)))",
    );
  });
});

describe("the rows of the shown groups", () => {
  test("of one column are one filter", () => {
    expect(texts(onlyGroups(query, [[app("a|b")], [app("c")]]))).toEqual(["app = a\\|b|c"]);
  });

  test("of several columns, or with none, are a condition", () => {
    const mixed = onlyGroups(query, [[app("web"), status(200)], [app(null)]]);
    expect(mixed.where).toBe("((app = 'web' AND status = 200) OR (app IS NULL))");
    expect(onlyGroups(query, [[app("a")], [app(null)]]).where).toBe(
      "((app = 'a') OR (app IS NULL))",
    );
  });
});

test("without a part of a distribution, rows that have no value stay", () => {
  const end = (operator: ">=" | "<", value: string) => ({
    column: "ms",
    operator,
    values: [value],
  });
  const { where } = excludeRange(query, end(">=", "1"), end("<", "2"));
  expect(where).toBe("(NOT (ms >= 1 AND ms < 2) OR ms IS NULL)");
});

test("the elements of a list may be looked for among others", () => {
  const filter = elementsFilter({ column: "stack", value: ["f", "g", "f"], type: "vector" });
  expect(filter && filterText(filter)).toBe("stack has-all f|g");
  expect(elementsFilter(app("web"))).toBeNull();
});
