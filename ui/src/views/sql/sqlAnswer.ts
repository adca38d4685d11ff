import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { askSql, type Problem } from "../../api/client";
import type { Answer, QuerySpec } from "../../api/types";
import { type Result, useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { withRangeEnds } from "../../query/placeholders";
import { optionOf } from "../../query/viewManifest";
import { SQL_TEXT } from "./options";

/** The text of the query, and its answer; that of the page's query while there is no text. */
export function useSqlResult(spec: QuerySpec): {
  stored: string;
  /** The text that is asked: with the time range in the place of `$from` and `$to`. */
  asked: string;
  result: Pick<Result, "data" | "error" | "isFetching" | "isPlaceholderData" | "refetch">;
} {
  const { query, resolved, now, chartHeight } = useExplore();
  const stored = optionOf(query, SQL_TEXT);
  // A tile asks at a moment of its own.
  const asked = withRangeEnds(stored, resolved.range);
  const follows = asked !== stored || chartHeight !== undefined;
  const answer = useSqlAnswer(asked, chartHeight === undefined ? null : now, follows);
  const seed = useAnswer(stored === "" ? spec : null);
  return { stored, asked, result: stored === "" ? seed : answer };
}

/**
 * The answer to a text; nothing is asked for an empty one. Where the text follows the time, the
 * last answer stays until the next is there.
 */
function useSqlAnswer(sql: string, moment: number | null, follows: boolean) {
  const last = follows ? { placeholderData: keepPreviousData } : {};
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
