// Where the rows of each table are.

import type { Cluster, ClusterTable } from "../../api/cluster";
import { leavesOf } from "./members";

/** A leaf's share of a table. */
export interface LeafShare {
  leaf: string;
  /** Of the table's expected rows, from 0 to 1. */
  fraction: number;
  /** Compared with the leaf that has most of the table, from 0 to 1. */
  strength: number;
  rows: number;
  rows_expected: number;
  block_bytes: number;
}

/** A table and its share on each leaf, in the order of the leaves; null where a leaf has none. */
export interface ShareRow {
  table: ClusterTable;
  shares: (LeafShare | null)[];
}

export function shareRows(cluster: Cluster): ShareRow[] {
  const leaves = leavesOf(cluster);
  const byLeaf = leaves.map((leaf) => new Map(leaf.tables.map((share) => [share.name, share])));
  return cluster.tables.map((table) => {
    const ofTable = byLeaf.map((shares) => shares.get(table.name));
    const most = Math.max(1, ...ofTable.map((share) => share?.rows_expected ?? 0));
    const shares = ofTable.map((share, index): LeafShare | null => {
      if (!share) return null;
      const { rows, rows_expected, block_bytes } = share;
      return {
        leaf: leaves[index]?.name ?? "",
        fraction: rows_expected / Math.max(1, table.rows_expected),
        strength: rows_expected / most,
        rows,
        rows_expected,
        block_bytes,
      };
    });
    return { table, shares };
  });
}
