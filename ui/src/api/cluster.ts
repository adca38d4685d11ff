// The answer of /v1/cluster.

/** A leaf's or an aggregator's stage between start and end; silent: nothing is heard of it. */
export type MemberState = "alive" | "memory recovery" | "disk recovery" | "prepare" | "silent";

/** Rows that queries see, and rows that they should see. */
export interface ClusterRows {
  rows: number;
  rows_expected: number;
  /** Being restored after a start. */
  rows_waiting: number;
  /** From 0 to 1. */
  coverage: number;
}

export interface MemberProcess {
  name: string;
  state: MemberState;
  /** Whether queries are sent to it. */
  answers: boolean;
  /** When it entered its state. */
  since: string | null;
  /** Null if it is no member any more, and rows are still expected of it. */
  release: string | null;
  started: string | null;
}

export interface ClusterAggregator extends MemberProcess {
  /** Where others join. */
  address: string;
  /** The address of its page; empty if it has none. */
  url: string;
}

/** A table, or a leaf's share of one. */
export interface ClusterTable extends ClusterRows {
  name: string;
  block_bytes: number;
}

export interface ClusterLeaf extends MemberProcess, ClusterRows {
  used_bytes: number;
  free_bytes: number;
  block_bytes: number;
  tables: ClusterTable[];
  tables_left_out: number;
}

export interface ClusterMachine {
  name: string;
  /** Empty if nobody named it. */
  rack: string;
  aggregator: ClusterAggregator | null;
  leaves: ClusterLeaf[];
}

export interface Cluster extends ClusterRows {
  /** Null without a cluster. */
  cluster: string | null;
  at: string;
  leaves: number;
  leaves_answering: number;
  block_bytes: number;
  used_bytes: number;
  free_bytes: number;
  /** What is wrong, a sentence each, the worst first. */
  problems: string[];
  machines: ClusterMachine[];
  /** Those with the most expected rows. */
  tables: ClusterTable[];
  tables_left_out: number;
}
