import type { SnapshotSummary } from "../api/documents";
import { queryWords } from "../explore/QueryLine";
import { readQuery } from "../query/url";
import { VIEWS } from "../views/registry";

/** The address of a frozen answer. */
export const urlOfSnapshot = (name: string): string =>
  `?${new URLSearchParams({ page: "snapshot", snapshot: name })}`;

/** What a frozen answer is of, in a line: its description, or what was asked. */
export function snapshotWords({ description, query: address }: SnapshotSummary): string {
  if (description) return description;
  const { query } = readQuery(`?${address}`, VIEWS);
  if (!query) return "A query that this page cannot read";
  const view = VIEWS.find(({ kind }) => kind === query.view.kind)?.name ?? "";
  return [query.table, view, ...queryWords(query)].join(" · ");
}
