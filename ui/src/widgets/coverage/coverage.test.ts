import { describe, expect, it } from "vitest";
import type { Answer, Coverage, LeafCoverage, Table } from "../../api/types";
import {
  countMatched,
  leafWords,
  mayRecover,
  missingWords,
  progressWords,
  recoveringRows,
  recoveryWords,
  rowsWords,
  scannedPercent,
} from "./coverage";

const leaf = (name: string, outcome: LeafCoverage["outcome"]) =>
  ({ name, outcome, rows_expected: 500, rows_scanned: 500, micros: 1 }) satisfies LeafCoverage;

const coverage = (rows_scanned: number, leaves: LeafCoverage[] = []): Coverage => ({
  leaves_asked: leaves.length,
  leaves_answered: leaves.length,
  leaves_with_table: leaves.length,
  rows_expected: 1000,
  rows_scanned,
  fraction: rows_scanned / 1000,
  leaves,
});

describe("countMatched", () => {
  const answerOf = (samples: number[], rows_matched: number) =>
    ({
      columns: [{ name: "service" }, { name: "count(*)" }],
      rows: samples.map((it) => ["a", it * 10]),
      samples,
      stats: { rows_matched },
    }) as unknown as Answer;

  it("counts the rows of the groups that a limit cuts off", () => {
    expect(countMatched(answerOf([4, 3], 7))).toEqual({ samples: 7, events: 70 });
    expect(countMatched(answerOf([4], 7))).toEqual({ samples: 7, events: null });
  });
});

describe("missingWords", () => {
  it("says nothing where hardly a row is missing", () => {
    expect(missingWords(coverage(996), 0)).toBeNull();
  });

  it("names who did not answer", () => {
    const leaves = [leaf("leaf-0", "answered"), leaf("leaf-1", "late")];
    expect(missingWords(coverage(500, leaves), 0)).toBe(
      "500 rows (50.0 %) are not in this answer. No answer from leaf-1 (late).",
    );
  });

  it("says that more is to come after a start", () => {
    expect(missingWords(coverage(999 - 499), 500)).toBe(
      "500 rows (50.0 %) are not in this answer. Rows are being restored after a restart; the answer refreshes by itself.",
    );
  });
});

describe("leafWords", () => {
  it("tells how a leaf is where it is not alive, whatever it answered", () => {
    const leaves = [
      { name: "leaf-0", state: "alive" },
      { name: "leaf-1", state: "memory recovery" },
      { name: "leaf-2", state: "disk recovery" },
      { name: "leaf-3", state: "prepare" },
    ] as const;
    const words = (name: string) => leafWords(leaf(name, "answered"), leaves);
    expect(words("leaf-0")).toBe("answered");
    expect(words("leaf-1")).toBe("answered, memory recovery");
    expect(words("leaf-2")).toBe("answered, disk recovery");
    expect(words("leaf-3")).toBe("answered, prepare");
    expect(leafWords(leaf("leaf-2", "late"), leaves)).toBe("late, disk recovery");
    expect(leafWords(leaf("leaf-4", "dead"), leaves), "nobody knows more of it").toBe("dead");
  });
});

describe("recoveryWords", () => {
  const table = (waiting_rows: number, state: string) => ({ waiting_rows, state }) as Table;

  it("tells of rows that are still to come, and from where", () => {
    expect(recoveryWords(table(0, "alive"))).toBeNull();
    expect(recoveryWords(table(1, "memory recovery"))).toBe(
      "1 row is being restored after a restart (memory recovery).",
    );
    expect(recoveryWords(table(150_000, "disk recovery"))).toBe(
      "150,000 rows are being restored after a restart (disk recovery).",
    );
  });
});

describe("mayRecover", () => {
  it("asks on while rows come back, and once more after that", () => {
    expect(mayRecover(500, null, 0)).toBe(true);
    expect(mayRecover(500, 500, 200)).toBe(true);
    expect(mayRecover(300, 500, 0)).toBe(true);
    expect(mayRecover(0, 300, 0)).toBe(false);
  });

  it("leaves rows alone that are lost", () => {
    expect(mayRecover(7, 7, 0)).toBe(false);
  });
});

describe("recoveringRows", () => {
  it("leaves out what nobody had the time for", () => {
    const leaves = [leaf("leaf-0", "answered"), leaf("leaf-1", "late"), leaf("leaf-2", "dead")];
    const lacking = leaves.map((it) => ({ ...it, rows_scanned: 100 }));
    expect(recoveringRows(coverage(300, lacking))).toBe(400);
    expect(recoveringRows(coverage(1000, leaves))).toBe(0);
  });
});

describe("progressWords", () => {
  const progress = (leaves_asked: number, rows_expected: number) => ({
    leaves_asked,
    leaves_answered: 3,
    rows_expected,
    rows_scanned: 31_000_000,
    elapsed_micros: 1,
  });

  it("tells rows, and leaves where there are several", () => {
    expect(progressWords(progress(6, 60_000_000))).toBe("31 M of 60 M rows, 3 of 6 leaves so far");
    expect(progressWords(progress(1, 60_000_000))).toBe("31 M of 60 M rows");
    expect(progressWords(progress(0, 0))).toBe("waiting");
  });

  it("is a percentage that never leaves the bar", () => {
    expect(scannedPercent(progress(1, 62_000_000))).toBe(50);
    expect(scannedPercent(progress(1, 31))).toBe(100);
    expect(scannedPercent(progress(1, 0))).toBe(0);
  });
});

describe("rowsWords", () => {
  it("says that numbers are estimates where rows stand for more events than they are", () => {
    expect(rowsWords({ samples: 1195, events: 182_000 })).toBe(
      "182 k events, estimated from 1,195 rows",
    );
    expect(rowsWords({ samples: 1195, events: 1195 })).toBe("1,195 rows");
    expect(rowsWords({ samples: 1, events: null })).toBe("1 row");
  });
});
