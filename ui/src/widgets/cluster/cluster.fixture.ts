// A cluster for tests: two machines of two leaves.

import type { Cluster, ClusterLeaf, ClusterRows, MemberState } from "../../api/cluster";

const STARTED = "2026-11-21T10:00:00Z";

export const rowsOf = (rows: number, rows_expected: number, rows_waiting = 0): ClusterRows => ({
  rows,
  rows_expected,
  rows_waiting,
  coverage: rows_expected === 0 ? 1 : rows / rows_expected,
});

/** A leaf with rows of a table `t`, of which answers have `rows`. */
export function leafOf(name: string, state: MemberState, rows = 10, expected = 10): ClusterLeaf {
  return {
    name,
    state,
    answers: state !== "silent",
    since: STARTED,
    release: "0.1.0",
    started: STARTED,
    used_bytes: 100,
    free_bytes: 300,
    block_bytes: 10 * rows,
    ...rowsOf(rows, expected),
    tables: [{ name: "t", ...rowsOf(rows, expected), block_bytes: 10 * rows }],
    tables_left_out: 0,
  };
}

/** A cluster of these leaves, each two on a machine; `at` in milliseconds. */
export function clusterOf(leaves: ClusterLeaf[], at = Date.parse(STARTED)): Cluster {
  const sum = (key: "rows" | "rows_expected") => leaves.reduce((all, leaf) => all + leaf[key], 0);
  const rows = rowsOf(sum("rows"), sum("rows_expected"));
  const machine = (index: number) => ({
    name: `m-${index}`,
    rack: "",
    aggregator: null,
    leaves: leaves.slice(2 * index, 2 * index + 2),
  });
  return {
    cluster: "abyss",
    at: new Date(at).toISOString(),
    leaves: leaves.length,
    leaves_answering: leaves.filter((leaf) => leaf.answers).length,
    ...rows,
    block_bytes: 0,
    used_bytes: 0,
    free_bytes: 0,
    problems: [],
    machines: Array.from({ length: Math.ceil(leaves.length / 2) }, (_, index) => machine(index)),
    tables: [{ name: "t", ...rows, block_bytes: 0 }],
    tables_left_out: 0,
  };
}
