// Which tables the home page lists, and in which order.

import type { Table } from "../../api/types";

/** A table that the server keeps about itself. */
export const isSystem = ({ name }: Table): boolean => name.startsWith("_");

export type SortKey = "name" | "rows" | "bytes" | "newest";

export interface Sort {
  readonly by: SortKey;
  readonly ascending: boolean;
}

const VALUES: Record<SortKey, (table: Table) => number | string> = {
  name: ({ name }) => name,
  rows: ({ rows }) => rows,
  bytes: ({ block_bytes }) => block_bytes,
  newest: ({ last_time }) =>
    last_time === null ? Number.NEGATIVE_INFINITY : Date.parse(last_time),
};

/** The order that a press on a heading means: names from a, numbers from the largest; then the reverse. */
export function nextSort(sort: Sort, by: SortKey): Sort {
  return sort.by === by ? { by, ascending: !sort.ascending } : { by, ascending: by === "name" };
}

/** The tables whose names contain a text, whatever the case, in this order. */
export function listed(tables: readonly Table[], text: string, sort: Sort): Table[] {
  const part = text.trim().toLowerCase();
  const value = VALUES[sort.by];
  const sign = sort.ascending ? 1 : -1;
  return tables
    .filter(({ name }) => name.toLowerCase().includes(part))
    .toSorted((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return a.name < b.name ? -1 : 1;
      return x < y ? -sign : sign;
    });
}

/** How long a table keeps its rows: `30 days`, `1 day`; or that they stay until it is full. */
export function retentionWords({ age_limit_days: days }: Table): string {
  if (days === null) return "no age limit";
  return days === 1 ? "1 day" : `${days} days`;
}
