import { describe, expect, it } from "vitest";
import type { Column, Type } from "../../api/types";
import { quickFilter } from "../filter/quickFilter";
import { findMeasures, looksLikeSql, measuresOf } from "../pickers/measureOptions";
import { findColumns, groupable, isGrouped, noteOf, sectionsOf } from "./columns";

const column = (name: string, type: Type): Column => ({
  name,
  type,
  is_time: name === "time",
  parts: [],
  rows: 1,
  null_fraction: 0,
  distinct: 3,
  min: null,
  max: null,
  p50: null,
  p95: null,
});

const COLUMNS = [
  column("service", "string"),
  column("status", "number"),
  column("latency_us", "number"),
  column("time", "time"),
  column("tags", "set"),
  column("sample_rate", "number"),
  column("odd name", "string"),
  column("cached", "bool"),
  column("stack", "vector"),
  column("Status_Text", "string"),
];
const NOW = Date.parse("2026-11-21T08:00:00Z");
const names = (columns: readonly Column[]) => columns.map((it) => it.name);
const quick = (text: string) => quickFilter(text, COLUMNS, NOW);

describe("noteOf", () => {
  it("names the one column of times that the rows are placed by", () => {
    expect(noteOf(column("time", "time")).text).toBe("row time");
    expect(noteOf(column("deadline", "time")).text).toBe("3");
  });
  it("counts different values, or says that they are many", () => {
    const id = { ...column("id", "string"), distinct: 20_000 };
    expect(noteOf(id).text).toBe("20 k");
    expect(noteOf(id, true)).toEqual({
      text: "many values",
      title: "about 20,000 distinct values",
    });
    expect(noteOf({ ...id, distinct: null }).text).toBe("");
  });
});

describe("findColumns", () => {
  it("finds by a part of the name, the beginning first", () => {
    expect(names(findColumns(COLUMNS, "ta"))).toEqual(["tags", "status", "stack", "Status_Text"]);
    expect(names(findColumns(COLUMNS, "STATUS"))).toEqual(["status", "Status_Text"]);
    expect(findColumns(COLUMNS, " ")).toHaveLength(COLUMNS.length);
    expect(findColumns(COLUMNS, "zzz")).toEqual([]);
  });
});

describe("lists of columns", () => {
  it("leaves time and sample rate at the end of the groups", () => {
    expect(names(groupable(COLUMNS)).slice(-2)).toEqual(["time", "sample_rate"]);
  });
  it("knows a group however it is written", () => {
    const [service, odd] = [column("service", "string"), column("odd name", "string")];
    expect(isGrouped(['"service"'], service)).toBe(true);
    expect(isGrouped(['"odd name"'], odd)).toBe(true);
    expect(isGrouped(["lower(service)"], service)).toBe(false);
  });
  it("cuts sections where no more may be drawn", () => {
    const sections = sectionsOf(COLUMNS, 5);
    expect(sections.map(({ name, columns, all }) => [name, columns.length, all])).toEqual([
      ["Text", 4, 4],
      ["Numbers", 1, 3],
    ]);
  });
});

describe("quickFilter", () => {
  it("reads column, sign and values", () => {
    expect(quick("status=500")).toEqual({ column: "status", operator: "=", values: ["500"] });
    expect(quick("status = 500, 502")?.values).toEqual(["500", "502"]);
    expect(quick("status!=200")?.operator).toBe("!=");
    expect(quick("status<>200")?.operator).toBe("!=");
    expect(quick("status==200")?.operator).toBe("=");
    expect(quick("service~^gate(way)?=x$")).toEqual({
      column: "service",
      operator: "~",
      values: ["^gate(way)?=x$"],
    });
    expect(quick('service="a, b"')?.values).toEqual(["a, b"]);
  });
  it("finishes a name that only one column can have", () => {
    expect(quick("latency>1000")).toEqual({
      column: "latency_us",
      operator: ">",
      values: ["1000"],
    });
    expect(quick("Service=x")?.column).toBe("service");
    expect(quick("rate>=2")?.column).toBe("sample_rate");
    expect(quick("sta=1")).toBeNull();
    expect(quick('"odd name"=x')?.column).toBe("odd name");
  });
  it("takes the list's own operators for sets and vectors", () => {
    expect(quick("tags=beta")?.operator).toBe("has");
    expect(quick("stack!=main")?.operator).toBe("!has");
  });
  it("knows what is missing, and relative times", () => {
    expect(quick("service=null")).toEqual({ column: "service", operator: "null", values: [] });
    expect(quick("service != NULL")?.operator).toBe("!null");
    expect(quick("time>-1h")?.values).toEqual(["2026-11-21T07:00:00.000Z"]);
  });
  it("reads what the URL and SQL write", () => {
    const filter = (text: string) => {
      const { column, operator, values = [] } = quick(text) ?? {};
      return [column, operator, ...values];
    };
    expect(filter("tags has cache:3|beta")).toEqual(["tags", "has", "cache:3", "beta"]);
    expect(filter("stack is f, g, f")).toEqual(["stack", "is", "f", "g", "f"]);
    expect(filter("service contains out of, memory")).toEqual([
      "service",
      "contains",
      "out of, memory",
    ]);
    expect(filter("service not contains x")).toEqual(["service", "!contains", "x"]);
    expect(filter("service is gateway")).toEqual(["service", "=", "gateway"]);
    expect(filter("service = a|b")).toEqual(["service", "=", "a", "b"]);
    expect(filter("status is null")).toEqual(["status", "null"]);
    expect(filter("status IS NOT NULL")).toEqual(["status", "!null"]);
    expect(filter("tags empty")).toEqual(["tags", "empty"]);
    expect(filter('"odd name" !null')).toEqual(["odd name", "!null"]);
    for (const text of ["tags has", "status contains 5", "service hello"]) {
      expect(quick(text), text).toBeNull();
    }
  });
  it("refuses what does not fit", () => {
    for (const text of ["", "status", "status=", "=5", "nope=1", "status=abc", "status=1,x"]) {
      expect(quick(text)).toBeNull();
    }
    expect(quick("service>3")).toBeNull();
    expect(quick("tags~x")).toBeNull();
    expect(quick("cached=maybe")).toBeNull();
    expect(quick("cached=TRUE")?.values).toEqual(["true"]);
  });
});

describe("measures", () => {
  it("finds by words of function and column", () => {
    const found = findMeasures(COLUMNS, "p95 lat", 50).map((it) => it.measure);
    expect(found).toEqual(["p95(latency_us)"]);
    expect(findMeasures(COLUMNS, "events", 50)[0]?.measure).toBe("count(*)");
    expect(findMeasures(COLUMNS, "", 7)).toHaveLength(7);
  });
  it("offers only fitting columns", () => {
    expect(measuresOf("avg", COLUMNS, "").map((it) => it.column?.name)).toEqual([
      "status",
      "latency_us",
      "sample_rate",
      "cached",
    ]);
    expect(measuresOf("count", COLUMNS, "odd")[0]?.measure).toBe('count("odd name")');
  });
  it("knows own SQL", () => {
    expect(looksLikeSql("sum(bytes) / count(*)")).toBe(true);
    expect(looksLikeSql("p95 lat")).toBe(false);
  });
});
