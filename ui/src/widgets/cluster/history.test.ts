import { describe, expect, it } from "vitest";
import { clusterOf, leafOf } from "./cluster.fixture";
import { GAP_MS, HISTORY_MS, type Moment, remember, restartsOf, stretchesOf } from "./history";

const at = (ms: number, silent = false) =>
  clusterOf([leafOf("a", silent ? "silent" : "alive", silent ? 0 : 10)], ms);

const historyOf = (...moments: [number, boolean][]) =>
  moments.reduce<readonly Moment[]>((all, [ms, silent]) => remember(all, at(ms, silent)), []);

describe("remember", () => {
  it("keeps what is young enough", () => {
    const history = historyOf([0, false], [1000, true], [HISTORY_MS + 500, false]);
    expect(history.map((moment) => [moment.at, moment.coverage])).toEqual([
      [1000, 0],
      [HISTORY_MS + 500, 1],
    ]);
  });

  it("takes an answer once", () => {
    const history = historyOf([1000, false]);
    expect(remember(history, at(1000, true))).toBe(history);
  });

  it("begins anew with a clock that goes back", () => {
    expect(historyOf([5000, false], [2000, false]).map((moment) => moment.at)).toEqual([2000]);
  });
});

describe("stretchesOf", () => {
  it("joins moments of one state", () => {
    const history = historyOf([0, false], [3000, false], [6000, true], [9000, false]);
    const of = (ms: number) => 100 - (ms / HISTORY_MS) * 100;
    const stretches = stretchesOf(history, "a");
    expect(stretches.map(({ tone }) => tone)).toEqual(["alive", "silent"]);
    expect(stretches[0]?.from).toBeCloseTo(of(9000));
    expect(stretches[0]?.width).toBeCloseTo(2);
    expect(stretches[1]?.from).toBeCloseTo(of(3000));
  });

  it("knows nothing of the time while the page was hidden", () => {
    const history = historyOf([0, false], [GAP_MS + 1, false], [GAP_MS + 1001, false]);
    expect(stretchesOf(history, "a")).toHaveLength(1);
    expect(stretchesOf(history, "b")).toEqual([]);
  });
});

it("finds where a leaf was started again", () => {
  const started = (ms: number, time: string | null) =>
    clusterOf([{ ...leafOf("a", "alive"), started: time }], ms);
  const first = "2026-11-21T10:00:00Z";
  const clusters = [
    started(0, first),
    started(1000, first),
    started(2000, null),
    started(3000, first),
    started(4000, "2026-11-21T10:00:03Z"),
    started(7000, "2026-11-21T10:00:03Z"),
  ];
  const history = clusters.reduce<readonly Moment[]>(remember, []);
  expect(restartsOf(history, "a")).toEqual([99]);
  expect(restartsOf(history, "b")).toEqual([]);
});
