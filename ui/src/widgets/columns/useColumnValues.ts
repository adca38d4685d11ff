import { useQuery } from "@tanstack/react-query";
import { ask, fetchElements, numberOf } from "../../api/client";
import type { Column, ColumnValue } from "../../api/types";
import { type ResolvedRows, valuesSpec } from "../../query/spec";
import { distinctOf } from "./columns";

/** Above this, looking through all values costs seconds, and none of them is frequent. */
const TOO_MANY = 1_000_000;
const MOST = 20;
/** Values with the text anywhere that are requested: the best of them are shown. */
const LOOKED_THROUGH = 200;

type Target = Pick<Column, "name" | "type">;

/**
 * The frequent values of a column that contain a text, counted over the rows that the query
 * is about, and whether they are worth asking for. Elements of sets and vectors are counted over
 * the query's time only.
 */
export function useColumnValues(resolved: ResolvedRows, column: Target, part: string) {
  const { name, type } = column;
  const { table } = resolved.query;
  const lists = type === "set" || type === "vector";
  const enabled = type !== "time" && !(isHuge(column) && part.length < 3);
  // One more than are shown: rows without a value are counted as well.
  const spec = valuesSpec(resolved, column, part, (part === "" ? MOST : LOOKED_THROUGH) + 1);
  const answer = useQuery<ColumnValue[]>({
    queryKey: ["values", table, name, part, spec],
    queryFn: ({ signal }) =>
      lists
        ? fetchElements(spec, name, part === "" ? MOST : LOOKED_THROUGH * 5, signal)
        : ask(spec, signal).then(({ rows, samples }) =>
            rows.map(([value = null, count = 0], at) => ({
              value,
              count: numberOf(count) ?? 0,
              samples: samples?.[at] ?? 0,
            })),
          ),
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    placeholderData: (before, query) =>
      query?.queryKey[1] === table && query.queryKey[2] === name ? before : undefined,
  });
  const values = bestValues(answer.data ?? [], part).slice(0, MOST);
  return { values, enabled, pending: enabled && answer.isFetching, failed: answer.isError };
}

/** The values that contain a text: itself first, then those that begin with it, then the others. */
export function bestValues(values: readonly ColumnValue[], part: string): ColumnValue[] {
  const lower = part.toLowerCase();
  const rank = (text: string) => (text === lower ? 0 : text.startsWith(lower) ? 1 : 2);
  return values
    .filter(({ value }) => value !== null && String(value).toLowerCase().includes(lower))
    .map((it): [ColumnValue, number] => [it, rank(String(it.value).toLowerCase())])
    .sort((a, b) => a[1] - b[1])
    .map(([it]) => it);
}

function isHuge(column: Target & Partial<Column>): boolean {
  // Of sets and vectors the elements are listed, which are far fewer than the lists.
  if (column.type === "set" || column.type === "vector" || !("distinct" in column)) return false;
  return (distinctOf(column as Column) ?? 0) > TOO_MANY;
}
