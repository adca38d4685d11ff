// The one state of the page: the query that all views share, and the view. The state is immutable,
// and the URL is its text.

import type { Definition } from "../api/types";
import type { Filter } from "./filter";
import type { Measure } from "./measure";

/** The view that a table opens in. */
export const DEFAULT_VIEW = "overview";

/** The value of `compare` for the time just before the range, which is as long. */
export const PREVIOUS = "previous";

/** What the compared time is called: `7d before`, or the previous period. */
export const beforeText = (compare: string) =>
  compare === PREVIOUS ? "the previous period" : `${compare} before`;

/** What all views share. */
export interface SharedQuery {
  readonly table: string;
  /** The first moment: relative to now as in `-3h`, or ISO 8601. Empty: where the data is. */
  readonly from: string;
  /** The moment after the last: `now`, relative, or ISO 8601. */
  readonly to: string;
  /**
   * How much earlier the time is that this is compared with, as in `7d`; `previous`: the time just
   * before the range; or empty.
   */
  readonly compare: string;
  /** Derived columns; each can use those before it. */
  readonly define: readonly Definition[];
  /** Columns, or expressions of SQL. */
  readonly group: readonly string[];
  readonly measures: readonly Measure[];
  readonly filters: readonly Filter[];
  /** A text to look for in all columns. */
  readonly search: string;
  /** A condition of SQL that no chip can say. */
  readonly where: string;
  /** What the table is sorted by: a measure or a group, perhaps with ` asc`. Empty: first measure. */
  readonly order: string;
  /** Rows of the table and of the samples. */
  readonly limit: number;
  /** Series that are drawn; the rest is summed up. */
  readonly series: number;
  /** The length of a time bucket, or `auto`. */
  readonly bucket: string;
  /** How often to ask again, as in `5s`; or empty. */
  readonly refresh: string;
}

export interface Query extends SharedQuery {
  readonly view: {
    /** The `kind` of a view's manifest. */
    readonly kind: string;
    /** The options of all views as the address has them, by their keys, without defaults. */
    readonly options: Readonly<Record<string, string>>;
  };
}

export const LIMIT_MAX = 1000;
export const SERIES_MAX = 50;

/** The query that opening a table asks. */
export function defaultQuery(table: string): Query {
  return {
    table,
    view: { kind: DEFAULT_VIEW, options: {} },
    from: "",
    to: "now",
    compare: "",
    define: [],
    group: [],
    measures: ["count(*)"],
    filters: [],
    search: "",
    where: "",
    order: "",
    limit: 100,
    series: 8,
    bucket: "auto",
    refresh: "",
  };
}
