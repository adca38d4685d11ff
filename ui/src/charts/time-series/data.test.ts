import { describe, expect, it } from "vitest";
import type { Answer, AnswerColumn, Cell } from "../../api/types";
import { OTHER_COLOUR } from "../../base/colours";
import { defaultQuery, type Query } from "../../query/query";
import { type ResolvedQuery, seriesAggregates } from "../../query/spec";
import { chartStrokes, seriesOf } from "./data";

const START = Date.parse("2026-11-21T00:00:00Z");
const MINUTE = 60_000;

function resolved(over: Partial<Query>, minutes = 4): ResolvedQuery {
  const query = { ...defaultQuery("t"), bucket: "1m", ...over };
  return { query, columns: [], range: { from: START, to: START + minutes * MINUTE } };
}

function answer(columns: [string, AnswerColumn["type"]][], rows: Cell[][], more = {}): Answer {
  const named = columns.map(([name, type]) => ({ name, type }));
  return {
    columns: named,
    rows,
    coverage: {},
    stats: {},
    warnings: [],
    ...more,
  } as unknown as Answer;
}

const at = (minute: number) => new Date(START + minute * MINUTE).toISOString();

describe("seriesOf without groups", () => {
  it("fills buckets without rows: zero for what adds up", () => {
    const rows = [
      [at(0), 5],
      [at(2), "12345678901234567890"],
    ];
    const columns: [string, AnswerColumn["type"]][] = [
      ["time", "time"],
      ["count(*)", "number"],
    ];
    const chart = seriesOf(answer(columns, rows, { samples: [2, 3] }), resolved({}), 0);
    const [line] = chart.series;
    expect(chart.starts).toEqual([0, 1, 2, 3].map((it) => START + it * MINUTE));
    expect(line?.label).toBe("events");
    expect(line?.values).toEqual([5, 0, 12345678901234567000, 0]);
    expect(line?.samples).toEqual([2, 0, 3, 0]);
    expect(line).toMatchObject({ picks: [], last: 0, min: 0, before: null, totalBefore: null });
    expect([chart.cutFirst, chart.cutLast]).toEqual([false, false]);
  });

  it("draws an older answer as of when it was asked for", () => {
    const columns: [string, AnswerColumn["type"]][] = [
      ["time", "time"],
      ["count(*)", "number"],
    ];
    const old = answer(columns, [[at(0), 5]], { time: { from: at(0), to: at(4) } });
    const later = {
      ...resolved({}),
      range: { from: START + 10 * MINUTE, to: START + 14 * MINUTE },
    };
    const chart = seriesOf(old, later, 0);
    expect(chart.starts[0]).toBe(START);
    expect(chart.series[0]?.values).toEqual([5, 0, 0, 0]);
  });

  it("leaves gaps for what does not, and knows which measure is meant", () => {
    const columns: [string, AnswerColumn["type"]][] = [
      ["time", "time"],
      ["avg(x)", "number"],
      ["p95(x)", "number"],
      ["count(*)", "number"],
    ];
    const rows = [
      [at(1), 1, 7, 3],
      [at(2), 2, null, 3],
    ];
    const chart = seriesOf(answer(columns, rows), resolved({ measures: ["avg(x)", "p95(x)"] }), 1);
    expect(chart.series[0]).toMatchObject({
      values: [null, 7, null, null],
      label: "p95 of x",
      total: null,
      last: 7,
      min: 7,
      max: 7,
    });
  });

  it("has a line even where no row matches", () => {
    const chart = seriesOf(
      answer(
        [
          ["time", "time"],
          ["count(*)", "number"],
        ],
        [],
      ),
      resolved({}),
      0,
    );
    expect(chart.series[0]).toMatchObject({ values: [0, 0, 0, 0], total: 0 });
  });

  it("leaves the bucket that still fills out of the smallest, largest and last", () => {
    const columns: [string, AnswerColumn["type"]][] = [
      ["time", "time"],
      ["count(*)", "number"],
    ];
    const rows = [0, 1, 2, 3].map((minute) => [at(minute), minute === 3 ? 1 : 10 + minute]);
    const chart = seriesOf(answer(columns, rows), resolved({}, 3.5), 0);
    expect([chart.cutFirst, chart.cutLast]).toEqual([false, true]);
    expect(chart.series[0]).toMatchObject({ total: 34, last: 12, min: 10, max: 12 });
  });
});

describe("seriesOf of odd ranges and values", () => {
  it("draws ends that the range cuts, and does not take them for the smallest", () => {
    const columns: [string, AnswerColumn["type"]][] = [
      ["time", "time"],
      ["count(*)", "number"],
      ["avg(x)", "number"],
    ];
    const rows = [0, 1, 2, 3].map((minute) => [at(minute), [3, 10, 9, 20][minute] ?? 0, 1]);
    const cut = resolved({ measures: ["count(*)", "avg(x)"] }, 3.5);
    const range = { ...cut.range, from: START + 30_000 };
    const chart = seriesOf(answer(columns, rows), { ...cut, range }, 0);
    expect(chart.starts[0]).toBe(START);
    expect(chart).toMatchObject({ range, cutFirst: true, cutLast: true });
    // A count of a part is at most that of the whole.
    expect(chart.series[0]).toMatchObject({ total: 42, last: 9, min: 9, max: 20 });
  });

  it("knows no sum of nothing, while nothing counts as zero", () => {
    const columns: [string, AnswerColumn["type"]][] = [
      ["time", "time"],
      ["sum(x)", "number"],
      ["count(*)", "number"],
    ];
    const query = resolved({ measures: ["sum(x)", "count(*)"] });
    const none = answer(columns, [[at(1), null, 2]]);
    expect(seriesOf(none, query, 0).series[0]).toMatchObject({ total: null, max: null });
    expect(seriesOf(none, query, 1).series[0]).toMatchObject({ total: 2, min: 0 });
    const some = answer(columns, [[at(1), 5, 2]]);
    expect(seriesOf(some, query, 0).series[0]).toMatchObject({ values: [0, 5, 0, 0], total: 5 });
  });

  it("takes compared rates for the part of a bucket that the range has", () => {
    const columns: [string, AnswerColumn["type"]][] = [
      ["side", "string"],
      ["time", "time"],
      ["per_minute(count(*))", "number"],
      ["count(*)", "number"],
    ];
    const rows = ["now", "before"].flatMap((side) =>
      [0, 1, 2].map((minute) => [side, at(minute), 12, 12]),
    );
    const over = { measures: ["per_minute(count(*))"], compare: "1h" };
    const cut = resolved(over, 2.25);
    const range = { ...cut.range, from: START + 30_000 };
    // The answer is of both sides.
    const hour = 3_600_000;
    const time = {
      from: new Date(range.from - hour).toISOString(),
      to: new Date(range.to).toISOString(),
    };
    const chart = seriesOf(answer(columns, rows, { time }), { ...cut, range }, 0);
    expect(chart).toMatchObject({ range, cutFirst: true, cutLast: true });
    const [line] = chart.series;
    expect(line).toMatchObject({ values: [24, 12, 12], before: [12, 12, 48] });
  });
});

describe("seriesOf with groups", () => {
  const columns: [string, AnswerColumn["type"]][] = [
    ["time", "time"],
    ["app", "string"],
    ["status", "number"],
    ["count(*)", "number"],
  ];
  const group = { group: ["app", "status + 1"] };

  it("tells the series beyond the limit from those without a value", () => {
    const rows = [
      [at(0), null, null, 4],
      [at(0), null, null, 900],
      [at(0), "web", 200, 9],
      [at(1), "web", 200, 1],
    ];
    const other = [false, true, false, false];
    const chart = seriesOf(answer(columns, rows, { other }), resolved(group), 0);
    expect(chart.series.map(({ label }) => label)).toEqual([
      "web · 200",
      "(none) · (none)",
      "Other",
    ]);
    const status = { column: "status + 1", expression: "status + 1", type: "number" };
    expect(chart.series[0]?.picks).toEqual([
      { column: "app", value: "web", type: "string" },
      { ...status, value: 200 },
    ]);
    expect(chart.series[1]?.picks[0]).toEqual({ column: "app", value: null, type: "string" });
    expect(chart.series[2]).toMatchObject({ picks: [], isOther: true, total: 900 });
    // "Other" is defined by the series that it excludes.
    expect(chart.series[2]?.others).toEqual(chart.series.slice(0, 2).map(({ picks }) => picks));
    expect(new Set(chart.series.map(({ key }) => key)).size).toBe(3);
    const strokes = chartStrokes(chart);
    expect(strokes.get(chart.series[2]?.key ?? "")?.colour).toBe(OTHER_COLOUR);
    expect(strokes.get(chart.series[0]?.key ?? "")?.colour).not.toBe(OTHER_COLOUR);
  });

  it("keeps colours whatever the order of the series", () => {
    const rows = (a: number, b: number) => [
      [at(0), "a", 1, a],
      [at(0), "b", 1, b],
    ];
    const one = seriesOf(answer(columns, rows(1, 2)), resolved(group), 0);
    const two = seriesOf(answer(columns, rows(2, 1)), resolved(group), 0);
    expect(one.series[0]?.label).toBe("b · 1");
    expect(two.series[0]?.label).toBe("a · 1");
    expect([...chartStrokes(one)].sort()).toEqual([...chartStrokes(two)].sort());
  });

  it("draws no two of fifty series alike", () => {
    const rows = Array.from({ length: 50 }, (_, n) => [at(0), `app ${n}`, 1, n]);
    const strokes = chartStrokes(seriesOf(answer(columns, rows), resolved(group), 0));
    const looks = [...strokes.values()].map((it) => JSON.stringify(it));
    expect(new Set(looks).size).toBe(50);
  });

  it("finds its measure behind the one that series are chosen by", () => {
    const rows = [[at(0), "web", 200, 4, 70]];
    const both: typeof columns = [...columns, ["p95(x)", "number"]];
    const measured = resolved({ ...group, measures: ["p95(x)"] });
    expect(seriesAggregates(measured.query)).toEqual(["count(*)", "p95(x)"]);
    expect(seriesOf(answer(both, rows), measured, 0).series[0]?.max).toBe(70);
    const ordered = { ...measured.query, order: "p95(x)" };
    expect(seriesAggregates(ordered)).toEqual(["p95(x)", "count(*)"]);
  });

  it("reads both sides of a comparison, and drops what lies off the axis", () => {
    const sided: [string, AnswerColumn["type"]][] = [["side", "string"], ...columns];
    const rows = [
      ["before", at(0), "web", 200, 3],
      ["before", at(-1), "web", 200, 1000],
      ["before", at(1), "gone", 200, 2],
      ["now", at(0), "web", 200, 6],
      ["now", at(4), "web", 200, 1000],
    ];
    const chart = seriesOf(answer(sided, rows), resolved({ ...group, compare: "1h" }), 0);
    expect(chart.shift).toBe("1h");
    expect(chart.series).toMatchObject([
      { label: "web · 200", values: [6, 0, 0, 0], before: [3, 0, 0, 0], totalBefore: 3 },
      { label: "gone · 200", values: [0, 0, 0, 0], before: [0, 2, 0, 0], totalBefore: 2 },
    ]);
    expect(chart.series[0]?.picks[0]).toEqual({ column: "app", value: "web", type: "string" });
  });
});
