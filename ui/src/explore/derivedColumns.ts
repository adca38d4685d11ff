// The derived columns of a query as columns: their types are those that the server says.

import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { ask } from "../api/client";
import type { Answer, Column, Definition, Type } from "../api/types";
import { quoteName } from "../query/sql";

/** A column of an expression; only its type is known. */
export const derivedColumn = ({ name, sql }: Definition, type: Type): Column => ({
  name,
  type,
  is_time: false,
  parts: [],
  rows: null,
  null_fraction: null,
  distinct: null,
  min: null,
  max: null,
  p50: null,
  p95: null,
  derived: sql,
});

/** The table's columns and those that are defined; a definition hides a column of its name. */
export function useDerivedColumns(
  table: string,
  define: readonly Definition[],
  columns: readonly Column[],
): readonly Column[] {
  const types = useQueries({
    queries: define.map(({ name }, at) => {
      const upToThis = define.slice(0, at + 1);
      const spec = { table, define: upToThis, columns: [quoteName(name)], limit: 1 };
      return {
        queryKey: ["derived", table, upToThis],
        queryFn: ({ signal }: { signal: AbortSignal }) => ask(spec, signal),
        staleTime: Number.POSITIVE_INFINITY,
        retry: false,
      };
    }),
    combine: (results) => results.map(({ data }) => typeOf(data)).join(),
  });
  return useMemo(() => {
    if (define.length === 0) return columns;
    const typeList = types.split(",") as (Type | "")[];
    const made = define.flatMap((it, at) => (typeList[at] ? derivedColumn(it, typeList[at]) : []));
    const hidden = new Set(made.map(({ name }) => name));
    return [...columns.filter(({ name }) => !hidden.has(name)), ...made];
  }, [define, columns, types]);
}

const typeOf = (answer: Answer | undefined): Type | "" => answer?.columns[0]?.type ?? "";
