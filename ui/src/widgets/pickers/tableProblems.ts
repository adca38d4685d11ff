// Rejected rows and warnings of the last day, by table, as the server has recorded them.

import { useQuery } from "@tanstack/react-query";
import { ask, numberOf, type Problem } from "../../api/client";
import type { Table } from "../../api/types";
import { counted } from "../../base/format";

const AGE_MS = 60_000;
const INGEST_TABLE = "_ingest";
/** Usual for events without a time of their own: no reason to mark a table. */
const USUAL = new Set(["arrival_time", "no_age_limit"]);

/** What went wrong with rows that were sent to a table. */
export interface TableProblems {
  rejected: number;
  /** The codes of the warnings. */
  codes: string[];
}

/** The problems of the tables that have any; empty until they are known. */
export function useTableProblems(tables: readonly Table[]): ReadonlyMap<string, TableProblems> {
  const { data } = useQuery<ReadonlyMap<string, TableProblems>, Problem>({
    queryKey: ["table-problems"],
    queryFn: ({ signal }) => fetchTableProblems(signal),
    // Without a journal there is nothing to ask.
    enabled: tables.some(({ name }) => name === INGEST_TABLE),
    staleTime: AGE_MS,
    refetchInterval: AGE_MS,
    retry: false,
  });
  return data ?? new Map();
}

async function fetchTableProblems(signal: AbortSignal): Promise<Map<string, TableProblems>> {
  const day = { table: INGEST_TABLE, from: "-1d", limit: 1000 };
  const [rejects, warnings] = await Promise.all([
    ask({ ...day, group_by: ["table"], aggregates: ["sum(rejected)"] }, signal),
    ask({ ...day, group_by: ["table", "warning_codes"], aggregates: ["count(*)"] }, signal),
  ]);
  const problems = new Map<string, TableProblems>();
  const of = (table: unknown) => {
    const name = String(table);
    const there = problems.get(name) ?? { rejected: 0, codes: [] };
    problems.set(name, there);
    return there;
  };
  for (const [table, rejected] of rejects.rows) {
    const count = numberOf(rejected) ?? 0;
    if (count > 0) of(table).rejected = count;
  }
  for (const [table, codes] of warnings.rows) {
    for (const code of codesOf(codes)) {
      const known = of(table).codes;
      if (!known.includes(code)) known.push(code);
    }
  }
  for (const [table, { rejected, codes }] of problems) {
    if (rejected === 0 && codes.length === 0) problems.delete(table);
  }
  return problems;
}

/** The codes of a set, or one code, without those that are usual. */
function codesOf(cell: unknown): string[] {
  const codes = Array.isArray(cell) ? cell : cell === null || cell === undefined ? [] : [cell];
  return codes.map(String).filter((code) => !USUAL.has(code));
}

/** The problems in a sentence, and where to look for more. */
export function problemWords({ rejected, codes }: TableProblems): string {
  const words = [
    rejected > 0 ? `${counted(rejected, "row")} rejected: table _rejects has the reasons` : "",
    codes.length > 0 ? `warnings: ${codes.join(", ")} (table _ingest)` : "",
  ];
  return `In the last day: ${words.filter((part) => part !== "").join("; ")}`;
}
