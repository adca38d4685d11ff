// Answers of the server, kept while the query that they answer is on the page.

import { keepPreviousData, queryOptions, skipToken, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useState } from "react";
import { ask, Problem, type QueryUpdate } from "../api/client";
import type { Answer, Cell, QueryProgress, QuerySpec } from "../api/types";

/** An answer, what went wrong instead, or neither yet. */
export interface Result {
  readonly data: Answer | undefined;
  readonly error: Problem | null;
  readonly isFetching: boolean;
  /** Whether `data` answers what was asked before. */
  readonly isPlaceholderData: boolean;
  /** When `data` came, if no answer has come since although one was asked for. */
  readonly staleSince: number | null;
  /** How far a query has come that takes long; null for one that does not, or has its answer. */
  readonly progress: QueryProgress | null;
  /** Its answer from the rows scanned by now, if a new question takes long. */
  readonly partial: Answer | null;
  readonly refetch: () => unknown;
}

/** Answers a query: the server, or answers that were kept. */
export type AnswerSource = (
  spec: QuerySpec,
  signal?: AbortSignal,
  onUpdate?: (update: QueryUpdate) => void,
) => Promise<Answer>;

export const AnswerSourceContext = createContext<AnswerSource>(ask);

/** The request for an answer, which is kept for a minute after it was on the page. */
export const answerQuery = (spec: QuerySpec | null, source: AnswerSource = ask) =>
  queryOptions<Answer, Problem>({
    queryKey: ["answer", spec],
    queryFn: async ({ signal, client }) => {
      const updates = ["update", spec];
      const onUpdate = (update: QueryUpdate) => client.setQueryData(updates, update);
      try {
        return await source(spec as QuerySpec, signal, onUpdate);
      } finally {
        client.setQueryData(updates, null);
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

/** So long an answer may take before the page says that what it shows is old. */
const LATE_MS = 7000;
const AGAIN_MS = 5000;

/**
 * The answer to a query; the one before it stays until it is there. Null asks nothing. While the
 * server is silent the same query's last answer stays, with since when, and is asked for again.
 */
export function useAnswer(spec: QuerySpec | null): Result {
  const source = useContext(AnswerSourceContext);
  const result = useQuery({
    ...answerQuery(spec, source),
    enabled: spec !== null,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.error?.passing ? AGAIN_MS : false),
  });
  const { data, error, isFetching, isPlaceholderData, dataUpdatedAt, failureReason } = result;
  const last = useRef<{ of: string; data: Answer; at: number; silent: boolean } | null>(null);
  const update = useUpdate(isFetching ? spec : null);
  // A server that says how far it has come is not silent.
  const late = useLate(isFetching && update === null);
  if (data && !isPlaceholderData && dataUpdatedAt !== last.current?.at) {
    last.current = { of: timeless(spec), data, at: dataUpdatedAt, silent: false };
  }
  const kept = last.current?.of === timeless(spec) ? last.current : null;
  const wrong = error ?? failureReason;
  const trouble = useTrouble(timeless(spec), wrong, data !== undefined && !isPlaceholderData);
  // It stays so while it is asked again, until the answer is there.
  if (kept && wrong instanceof Problem && wrong.passing) kept.silent = true;
  const silent = kept !== null && (kept.silent || late);
  // The last answer to the same question has more rows than a part of the next one.
  const partial = kept === null && update?.partial ? update.partial : null;
  return {
    data: silent ? kept.data : data,
    error: silent ? null : (error ?? trouble),
    isFetching,
    isPlaceholderData: isPlaceholderData || silent,
    staleSince: silent ? kept.at : null,
    progress: update?.progress ?? null,
    partial: partial !== null && partial.stats.rows_matched > 0 ? partial : null,
    refetch: result.refetch,
  };
}

/**
 * The problem of a query from its first failure until an answer comes. It stays while the request is
 * repeated.
 */
function useTrouble(of: string, wrong: Error | null, answered: boolean): Problem | null {
  const last = useRef<{ of: string; problem: Problem } | null>(null);
  if (wrong instanceof Problem) last.current = wrong.passing ? { of, problem: wrong } : null;
  else if (answered) last.current = null;
  return last.current?.of === of ? last.current.problem : null;
}

/** What is known of a query that is being answered. */
function useUpdate(spec: QuerySpec | null): QueryUpdate | null {
  const { data } = useQuery<QueryUpdate | null>({
    queryKey: ["update", spec],
    queryFn: skipToken,
    gcTime: 0,
  });
  return spec === null ? null : (data ?? null);
}

/** A query but for its moment: asked again later it is still the same query. */
const timeless = (spec: QuerySpec | null) => JSON.stringify({ ...spec, from: "", to: "" });

/** Whether something takes long by now. */
function useLate(busy: boolean): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!busy) return;
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  return busy && late;
}

/**
 * What was asked for the answer that is drawn: `asked`, or what was asked before as long as an older
 * answer is drawn. Numbers therefore never stand under the name of another measure.
 */
export function useAsked<Asked>(
  result: Pick<Result, "data" | "isPlaceholderData"> & {
    /** Of a view that draws it. */
    readonly partial?: Answer | null;
  },
  asked: Asked,
): Asked {
  const { data, isPlaceholderData, partial } = result;
  const drawn = useRef(asked);
  if (!data || !isPlaceholderData || partial) drawn.current = asked;
  return drawn.current;
}

/** The class of what is drawn of a result: of a part of the rows, of an older answer, or of all. */
export const drawnAs = ({ partial, isPlaceholderData }: Result): "partial" | "stale" | "fresh" =>
  partial ? "partial" : isPlaceholderData ? "stale" : "fresh";

/** The result of a view that draws no partial answers. */
export function withoutPartial({ data, isPlaceholderData }: Result) {
  return { data, isPlaceholderData };
}

/** Where a column stands in an answer; -1 where it does not. */
export function columnIndex(answer: Answer, name: string): number {
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
