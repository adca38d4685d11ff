import { describe, expect, test } from "vitest";
import { defaultQuery } from "./query";
import * as url from "./url";
import { columnOption, textOption, type ViewManifest } from "./viewManifest";

const COLUMN = columnOption("of", ["number"]);
const EXTENT = textOption("extent");
const views = ["overview", "table", "distribution"].map(
  (kind) =>
    ({ kind, options: kind === "distribution" ? [COLUMN, EXTENT] : [] }) as unknown as ViewManifest,
);
const urlOf = (query: Parameters<typeof url.urlOf>[0]) => url.urlOf(query, views);
const readQuery = (search: string) => url.readQuery(search, views);
const queryOf = (search: string) => readQuery(search).query;

describe("the query in the URL", () => {
  test("says nothing that goes without saying", () => {
    expect(urlOf(defaultQuery("requests"))).toBe("?table=requests");
    expect(urlOf(null)).toBe("");
  });

  test("is what it was after a round trip, whatever is in it", () => {
    const query = {
      ...defaultQuery("röhren & co"),
      view: { kind: "table", options: { of: "latency_us", extent: "all" } },
      from: "2026-11-20T00:00:00.000Z",
      to: "now-1d",
      compare: "7d",
      define: [{ name: "__proto__", sql: "a = 'b' OR c" }],
      group: ["service", '"Odd Name"', "length(message)"],
      measures: ["p95(latency_us)", "sum(bytes) / count(*)"],
      filters: [
        { column: "service", operator: "=" as const, values: ["a|b", "c\\d", " e ", "", "%41+&"] },
        { column: 'so "called"', operator: "!null" as const, values: [] },
        { column: "tags", operator: "has" as const, values: ["x"] },
      ],
      search: "out of memory",
      where: "status >= 500 OR a = 'b&c'",
      order: "p95(latency_us) asc",
      limit: 50,
      series: 3,
      bucket: "5m",
      refresh: "5s",
    };
    expect(queryOf(urlOf(query))).toEqual(query);
  });

  test("leaves out what it cannot read", () => {
    const query = queryOf(
      "?table=t&view=pie&limit=-1&series=9999&bucket=fast&compare=x&filter=nonsense&filter=a+%3C%3E+b&show=&by=+&new=1",
    );
    expect(query).toEqual({ ...defaultQuery("t"), series: 50 });
    expect(queryOf("?view=table")).toBeNull();
  });

  test("keeps what it says of no table for the usual one", () => {
    const search = url.withTable("?view=table&by=service&filter=a+%3D+b%26c&dashboard=d", "my t");
    expect(search).toMatch(/&dashboard=d$/);
    const filter = { column: "a", operator: "=", values: ["b&c"] };
    const asked = { table: "my t", group: ["service"], filters: [filter] };
    expect(queryOf(search)).toMatchObject({ ...asked, view: { kind: "table" } });
    expect(url.withTable("", "t")).toBe("?table=t");
    expect(url.withTable("?by=a&table=u", "t")).toBe("?by=a&table=u");
  });

  test("says what it cannot read", () => {
    const parts = (search: string) => readQuery(search).ignored.map(({ part }) => part);
    expect(parts("?table=t&from=-1h&filter=a+%3D+1&limit=5&bucket=auto&refresh=5s&new=1")).toEqual(
      [],
    );
    expect(parts("?table=t&view=pie&limit=2.5&series=99&bucket=fast&filter=nonsense")).toEqual([
      "filter=nonsense",
      "view=pie",
      "bucket=fast",
      "limit=2.5",
      "series=99",
    ]);
    expect(parts("?table=t&from=foo&to=now")).toEqual(["from=foo"]);
    expect(parts("?table=t&from=-1h&to=garbage")).toEqual(["to=garbage"]);
    expect(parts("?table=t&from=now&to=-1h")).toEqual(["from=now&to=-1h"]);
    expect(parts("?table=t&to=-1h")).toEqual(["to=-1h"]);
  });

  test("asks again once a second at most, and of no time that no calendar has", () => {
    const fast = readQuery("?table=t&from=-1h&refresh=0.001s");
    expect(fast.query?.refresh).toBe("1s");
    expect(fast.ignored).toHaveLength(1);
    expect(queryOf("?table=t&from=-999999999d")?.from).toBe("");
  });

  test("keeps the parts that the next address has as well, in another view", () => {
    const parts = "by=service&filter=status%3E%3D500&show=count(*)&show=p95(latency_us)";
    const before = readQuery(`?table=t&view=table&from=-1h&${parts}`);
    const after = url.readNext(before, `?table=t&from=-2h&${parts}`, views);
    expect(after).toEqual(readQuery(`?table=t&from=-2h&${parts}`));
    for (const part of ["filters", "group", "measures", "define"] as const)
      expect(after.query?.[part]).toBe(before.query?.[part]);
    expect(after.ignored).toBe(before.ignored);
  });
});
