// What the server sends: spec/openapi.json in TypeScript.

import type { SetUnit } from "../base/units";

export type Type = "null" | "bool" | "number" | "time" | "string" | "set" | "vector" | "histogram";

/** A bucket of a histogram: from, to, how many. */
export type HistogramBucket = [number | string, number | string, number | string];

/** Null, truth, number (digits in a text where a double cannot hold them), text, time, list. */
export type Cell = null | boolean | number | string | string[] | HistogramBucket[];

export interface Warning {
  code: string;
  count: number;
  message: string;
  subject?: string;
}

export interface LeafCoverage {
  name: string;
  outcome: "answered" | "late" | "restarting" | "dead" | "failed";
  rows_expected: number;
  rows_scanned: number;
  micros: number;
}

/** How a leaf is, whatever it was asked. */
export interface LeafStatus {
  name: string;
  state: "alive" | "memory recovery" | "disk recovery" | "prepare";
}

export interface Coverage {
  leaves_asked: number;
  leaves_answered: number;
  leaves_with_table: number;
  rows_expected: number;
  rows_scanned: number;
  fraction: number;
  /** Present if an unknown number of rows is lost. */
  fraction_is_upper_bound?: boolean;
  leaves: LeafCoverage[];
}

export interface Stats {
  rows_read: number;
  rows_matched: number;
  blocks: number;
  blocks_skipped: number;
  bytes_read: number;
  scan_micros: number;
  elapsed_micros: number;
}

export interface AnswerColumn {
  name: string;
  type: Type;
}

export interface Answer {
  columns: AnswerColumn[];
  rows: Cell[][];
  coverage: Coverage;
  stats: Stats;
  warnings: Warning[];
  /** Of a grouped answer: the stored rows behind each of its rows. */
  samples?: number[];
  /** If asked for: of each value of each row, as `intervalOf` reads it. */
  intervals?: (null | "too_few" | (number | string)[] | { low: number; high: number })[][];
  /** With a series limit: which rows sum up the series beyond it. */
  other?: boolean[];
  /** With a series limit or totals: what each row is. */
  row_kinds?: ("group" | "other" | "total")[];
  time?: { from: string | null; to: string | null };
  /** The query as SQL. */
  sql?: string;
}

/** A derived column. */
export interface Definition {
  readonly name: string;
  /** An expression over columns of the table, and over columns that were defined before it. */
  readonly sql: string;
}

/** How far a query has come. */
export interface QueryProgress {
  leaves_asked: number;
  leaves_answered: number;
  rows_expected: number;
  rows_scanned: number;
  elapsed_micros: number;
}

/** The query as `POST /v1/query` takes it. */
export interface QuerySpec {
  table: string;
  from?: string;
  to?: string;
  filter?: string[];
  search?: string;
  group_by?: string[];
  bucket?: string;
  aggregates?: string[];
  columns?: string[];
  order_by?: string[];
  limit?: number;
  offset?: number;
  series?: number;
  totals?: boolean;
  compare?: { shift: string; columns?: true };
  /** Derived columns, which are replaced by their expressions before the query is sent. */
  define?: readonly Definition[];
  /** Whether the answer has confidence intervals. It stands beside the query in a request. */
  intervals?: boolean;
}

export interface Table {
  name: string;
  rows: number;
  column_count: number;
  time_column: string;
  first_time: string | null;
  last_time: string | null;
  /** Older rows are refused; null where rows of any age are taken. */
  age_limit_days: number | null;
  blocks: number;
  block_bytes: number;
  raw_bytes: number;
  /** Rows that a table over its size had to give up. */
  dropped_rows: number;
  /** The last time of those rows. */
  dropped_until: string | null;
  /** Rows whose row blocks are missing or damaged; answers expect them all the same. */
  lost_rows: number;
  /** Being brought back after a start; answers expect them. */
  waiting_rows: number;
  /** "alive", or from where it is recovered. */
  state: string;
}

/** The settings of a table, and what they come to. */
export interface Settings {
  table: string;
  /** The table has rows, or had some. */
  exists: boolean;
  /** What a change must be based on. */
  version: number;
  /** Those that are set. */
  settings: SetSettings;
  /** All of them, set or not; seconds are null where there is no limit. */
  effective: {
    age: string;
    age_seconds: number | null;
    archive: boolean;
    bytes: number;
    cold_after: string;
    cold_after_seconds: number | null;
    sample_after: string;
    sample_after_seconds: number | null;
    sample_by: string[];
    sample_keep: string;
    sample_key: string | null;
    sample_least: number;
    storage: string;
    time_column: string | null;
    /** The units of columns, as the page shows their numbers. */
    units: Record<string, string>;
  };
  /** What `bytes` is where it is not set. */
  bytes_default: number;
  rows: number;
  block_bytes: number;
  /** What the next look for rows that are too old will drop; null where there is no limit. */
  next_expiry: { at: string; until: string; rows: number; bytes: number } | null;
  archive_place: string | null;
  /** What of the settings comes to nothing, or not to what one would expect. */
  notes: string[];
}

/** Settings by their names; what is left out is the default. */
export type SetSettings = Record<
  string,
  string | number | boolean | string[] | Record<string, string>
>;

export type Kind = "number" | "string" | "set" | "vector";

export interface Column {
  name: string;
  type: Type;
  is_time: boolean;
  parts: { kind: Kind; rows: number }[];
  /** Of what follows, null means: not known yet, or there is none. */
  rows: number | null;
  null_fraction: number | null;
  distinct: Cell;
  min: Cell;
  max: Cell;
  p50: Cell;
  p95: Cell;
  /** Of a derived column, its expression. */
  derived?: string;
  /** The unit that a person has set for its numbers; without it, its name says it. */
  unit?: SetUnit;
}

export interface ColumnValue {
  value: Cell;
  /** Events, weighted by their sample rate. */
  count: number;
  /** Stored rows. */
  samples: number;
}

/** RFC 9457, as every error is sent. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  hint?: string;
  field?: string;
  position?: { line: number; column: number; offset: number };
}
