import { useQuery } from "@tanstack/react-query";
import { type ColumnValues, fetchValues } from "../api/client";
import type { Column } from "../api/types";
import { distinctOf } from "./columns";

/** Above this, looking through all values costs seconds, and none of them is frequent. */
const TOO_MANY = 1_000_000;
const AGE_MS = 60_000;

/** The frequent values of a column that begin with a text, and whether they are worth asking for. */
export function useValues(table: string, column: Pick<Column, "name" | "type">, prefix: string) {
  const enabled = column.type !== "time" && !(isHuge(column) && prefix.length < 3);
  const answer = useQuery<ColumnValues>({
    queryKey: ["values", table, column.name, prefix],
    queryFn: ({ signal }) => fetchValues(table, column.name, prefix, signal),
    enabled,
    staleTime: AGE_MS,
    retry: false,
    placeholderData: (before, query) =>
      query?.queryKey[1] === table && query.queryKey[2] === column.name ? before : undefined,
  });
  const values = (answer.data?.values ?? []).filter(({ value }) => value !== null);
  const newest = answer.data?.complete === false;
  return { values, enabled, newest, pending: enabled && answer.isFetching, failed: answer.isError };
}

function isHuge(column: Pick<Column, "name" | "type"> & Partial<Column>): boolean {
  // Of sets and vectors the elements are listed, which are far fewer than the lists.
  if (column.type === "set" || column.type === "vector" || !("distinct" in column)) return false;
  return (distinctOf(column as Column) ?? 0) > TOO_MANY;
}
