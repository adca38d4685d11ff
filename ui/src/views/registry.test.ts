import { IconTable } from "@tabler/icons-react";
import { describe, expect, it } from "vitest";
import type { Column } from "../api/types";
import { fitToColumns } from "../explore/fitToColumns";
import { toggleGroup } from "../query/edit";
import { OPERATORS, type Operator } from "../query/filter";
import { defaultQuery, LIMIT_MAX, type Query, SERIES_MAX } from "../query/query";
import { baseSpec } from "../query/spec";
import { readQuery, urlOf } from "../query/url";
import {
  columnOption,
  optionColumns,
  optionOf,
  type ViewManifest,
  type ViewOption,
  withOption,
  withoutMisfit,
  withView,
} from "../query/viewManifest";
import { VIEWS } from "./registry";

const SHARED_KEYS =
  "table view from to compare by show filter search where order limit series bucket refresh define page";

describe("the registry", () => {
  it("has no two views of one kind, and no two options of one key", () => {
    const kinds = VIEWS.map(({ kind }) => kind);
    expect(new Set(kinds).size).toBe(kinds.length);
    const options = [...new Set(VIEWS.flatMap((view) => view.options))];
    const keys = [...SHARED_KEYS.split(" "), ...options.map(({ key }) => key)];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("opens tables in a view that it has", () => {
    expect(VIEWS.some(({ kind }) => kind === defaultQuery("t").view.kind)).toBe(true);
  });
});

describe("a view that is registered", () => {
  const SIZE = columnOption("size", ["number"]);
  const TILES: ViewOption<number> = {
    key: "tiles",
    default: 20,
    parse: (text) => (/^[1-9]\d*$/.test(text) ? Number(text) : null),
    text: String,
    invalid: "is no number of tiles",
  };
  const mosaic: ViewManifest = {
    kind: "mosaic",
    name: "Mosaic",
    icon: IconTable,
    options: [SIZE, TILES],
    shows: ["groups"],
    plan: (resolved) => {
      const size = optionOf(resolved.query, SIZE);
      if (size === "") return { misfit: "Choose a column." };
      const aggregates = [`sum(${size})`];
      return {
        spec: { ...baseSpec(resolved), aggregates, limit: optionOf(resolved.query, TILES) },
      };
    },
    repair: (query, columns) => withoutMisfit(query, SIZE, columns, "is not a number column"),
    component: () => null,
  };
  const views = [...VIEWS, mosaic];
  const columns = [
    { name: "bytes", type: "number" },
    { name: "host", type: "string" },
  ] as Column[];
  const shown = withView(defaultQuery("t"), "mosaic");
  const query = withOption(withOption(shown, SIZE, "bytes"), TILES, 5);

  it("has its options in the address and gets them back", () => {
    const url = urlOf(query, views);
    expect(url).toBe("?table=t&view=mosaic&size=bytes&tiles=5");
    expect(readQuery(url, views)).toEqual({ query, ignored: [] });
    expect(urlOf(withOption(query, TILES, 20), views)).toBe("?table=t&view=mosaic&size=bytes");
    const invalid = readQuery("?table=t&view=mosaic&tiles=many", views);
    expect(invalid.query).toEqual(shown);
    expect(invalid.ignored).toEqual([{ part: "tiles=many", why: "is no number of tiles" }]);
  });

  it("keeps its options while another view is shown", () => {
    const url = urlOf(withView(query, "samples"), views);
    expect(url).toBe("?table=t&view=samples&size=bytes&tiles=5");
    expect(optionColumns(query, views)).toEqual(["bytes"]);
  });

  it("says what it asks, or why it does not fit", () => {
    const range = { from: 0, to: 1000 };
    expect(mosaic.plan({ query, columns, range })).toEqual({
      spec: {
        table: "t",
        from: "1970-01-01T00:00:00.000Z",
        to: "1970-01-01T00:00:01.000Z",
        aggregates: ["sum(bytes)"],
        limit: 5,
      },
    });
    expect(mosaic.plan({ query: shown, columns, range })).toEqual({ misfit: "Choose a column." });
  });

  it("repairs what does not fit the columns", () => {
    const fitted = (read: Query) => fitToColumns(read, columns, 0, views);
    expect(fitted(query)).toEqual({ query, misfits: [] });
    expect(fitted(withOption(query, SIZE, "host"))).toEqual({
      query: withOption(query, SIZE, ""),
      misfits: [{ part: "size=host", why: "is not a number column" }],
    });
  });

  it("takes the exact name of a column for that column, spaces and all", () => {
    const named = [{ name: "Customer Name", type: "string" }] as Column[];
    const read = { ...defaultQuery("t"), group: ["Customer Name", "length(a) AS n"] };
    const { query: fitted } = fitToColumns(read, named, 0, views);
    expect(fitted.group).toEqual(['"Customer Name"', "length(a) AS n"]);
  });

  it("keeps a query that is grouped, as it shows groups", () => {
    expect(toggleGroup(query, "host", views).view.kind).toBe("mosaic");
    expect(toggleGroup(withView(query, "samples"), "host", views).view.kind).toBe("time");
  });
});

/** Numbers that are random, and the same in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomQuery(random: (below: number) => number): Query {
  const oneOf = <T>(...choices: T[]): T => choices[random(choices.length)] as T;
  const listOf = <T>(make: () => T): T[] => Array.from({ length: random(3) }, make);
  const text = () => oneOf("", "a", "r\u00f6hre", "x=1&y", "50 %", "a+b|c\\d", '"q"', "p95(a, b)");
  const name = () => oneOf("a", "service", "Odd Name", 'say "x"', "a.b", "table");
  const filter = () => {
    const operator = oneOf(...(Object.keys(OPERATORS) as Operator[]));
    const { takes } = OPERATORS[operator];
    const many = takes === "many" ? 1 + random(3) : takes === "list" ? random(3) : 1;
    const values = takes === "none" ? [] : Array.from({ length: many }, text);
    return { column: name(), operator, values };
  };
  const measures = listOf(() => oneOf("count(*)", "p95(latency_us)", "sum(a) / count(*)"));
  const query: Query = {
    ...defaultQuery(oneOf("t", "r\u00f6hren & co")),
    ...oneOf(
      {},
      { from: "-3h" },
      { from: "all" },
      { from: "-7d", to: "now-1d" },
      { from: "2026-11-20" },
    ),
    compare: oneOf("", "7d", "1d", "previous"),
    define: listOf(() => ({ name: name(), sql: oneOf("a + b", "x = 'y|z'", "1 -- %41&") })),
    group: listOf(() => oneOf("a", '"Odd Name"', "length(message) AS n")),
    measures: measures.length > 0 ? measures : ["count(*)"],
    filters: listOf(filter),
    search: text(),
    where: text(),
    order: text(),
    limit: oneOf(100, 1 + random(LIMIT_MAX)),
    series: oneOf(8, 1 + random(SERIES_MAX)),
    bucket: oneOf("auto", "5m"),
    refresh: oneOf("", "5s"),
  };
  const options = [...new Set(VIEWS.flatMap((view) => view.options))] as ViewOption<string>[];
  const withOptions = options.reduce((it, option) => {
    const value = oneOf(text(), "log", "linear");
    return option.parse(value) === null ? it : withOption(it, option, value);
  }, query);
  return withView(withOptions, oneOf(...VIEWS).kind);
}

describe("addresses", () => {
  it("give back any query that they were made from", () => {
    const random = randomOf(1);
    for (let round = 0; round < 500; round++) {
      const query = randomQuery(random);
      const url = urlOf(query, VIEWS);
      const { query: read, ignored } = readQuery(url, VIEWS);
      expect(read).toEqual(query);
      expect(ignored).toEqual([]);
      expect(urlOf(read, VIEWS)).toBe(url);
    }
  });

  it("of earlier versions stay as they are, to the byte", () => {
    for (const url of [
      "?table=requests",
      "?table=requests&view=distribution&from=-1h&of=latency_us&extent=all&refresh=5s",
      "?table=t&view=samples&from=-3h&search=x&of=a&by=b&limit=50",
      "?table=t&view=table&from=2026-11-20T00:00:00Z&to=now-1d&compare=7d&where=a+%3E+1&order=change+count(*)&bucket=5m&by=a&show=p95(b)&filter=c+%3D+x%7Cy&series=3",
    ]) {
      expect(urlOf(readQuery(url, VIEWS).query, VIEWS)).toBe(url);
    }
  });
});
