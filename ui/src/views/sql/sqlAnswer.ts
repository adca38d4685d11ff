import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { askSql, type Problem } from "../../api/client";
import type { Answer, QuerySpec } from "../../api/types";
import { type Result, useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { optionOf } from "../../query/viewManifest";
import { SQL_TEXT } from "./options";

/** The text of the query, and its answer; that of the page's query while there is no text. */
export function useSqlResult(spec: QuerySpec): {
  stored: string;
  result: Pick<Result, "data" | "error" | "isFetching" | "isPlaceholderData" | "refetch">;
} {
  const { query, now, chartHeight } = useExplore();
  const stored = optionOf(query, SQL_TEXT);
  // A tile asks at a moment of its own.
  const asked = useSqlAnswer(stored, chartHeight === undefined ? null : now);
  const seed = useAnswer(stored === "" ? spec : null);
  return { stored, result: stored === "" ? seed : asked };
}

/** The answer to a text; nothing is asked for an empty one. */
function useSqlAnswer(sql: string, moment: number | null) {
  const last = moment === null ? {} : { placeholderData: keepPreviousData };
  return useQuery<Answer, Problem>({
    queryKey: ["answer", "sql", sql, moment],
    queryFn: ({ signal }) => askSql(sql, signal),
    enabled: sql !== "",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
    ...last,
  });
}
