// Answers of the server, kept while the question that they answer is on the page.

import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { ask, type Problem } from "../api/client";
import type { Answer, Cell, QuerySpec } from "../api/types";

/** The answer to a query; the one before it stays until it is there. Null asks nothing. */
export function useAnswer(spec: QuerySpec | null): UseQueryResult<Answer, Problem> {
  return useQuery<Answer, Problem>({
    queryKey: ["answer", spec],
    queryFn: ({ signal }) => ask(spec as QuerySpec, signal),
    enabled: spec !== null,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

/** Where a column stands in an answer; -1 where it does not. */
export function placeOf(answer: Answer, name: string): number {
  return answer.columns.findIndex((column) => column.name === name);
}

/** The sides of a compared answer: each row with its place, `before` apart. */
export function sides(answer: Answer): {
  now: [Cell[], number][];
  before: [Cell[], number][] | null;
} {
  const rows = answer.rows.map((row, at): [Cell[], number] => [row, at]);
  if (answer.columns[0]?.name !== "side") return { now: rows, before: null };
  return {
    now: rows.filter(([row]) => row[0] === "now"),
    before: rows.filter(([row]) => row[0] === "before"),
  };
}
