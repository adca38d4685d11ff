// Changes of a query with which a view can show it.

import { rankColumns } from "../../explore/columnRanking";
import { isAdditive, measureLabel } from "../../query/measure";
import { EVENTS, type ResolvedQuery } from "../../query/spec";
import { columnOf, quoteName } from "../../query/sql";
import type { Repair } from "../../query/viewManifest";
import { sharesRows } from "./groups";

const OFFERED = 3;

/** Columns worth grouping by that the query is not grouped by yet, the best first. */
export function groupColumns({ query, columns }: ResolvedQuery): string[] {
  const grouped = new Set(query.group.map((it) => columnOf(it) ?? it));
  const ranked = rankColumns(columns, query, 20).map(({ name }) => name);
  // Until statistics are there, texts are as good a guess as any.
  const texts = columns.filter(({ type }) => type === "string").map(({ name }) => name);
  return [...new Set([...ranked, ...texts])].filter((name) => !grouped.has(name));
}

/** The query grouped by one column more, as often as there are columns worth that. */
export function groupRepairs(resolved: ResolvedQuery): Repair[] {
  const { query } = resolved;
  return groupColumns(resolved)
    .slice(0, OFFERED)
    .map((name) => ({
      label: `Group by ${name}`,
      query: { ...query, group: [...query.group, quoteName(name)] },
    }));
}

/** Grouped by as many columns as a view needs. */
export function stageRepair(resolved: ResolvedQuery, stages: number): Repair[] {
  const { query } = resolved;
  const names = groupColumns(resolved).slice(0, Math.max(0, stages - query.group.length));
  if (query.group.length + names.length < stages) return [];
  return [
    {
      label: `Group by ${[...query.group, ...names].join(" and ")}`,
      query: { ...query, group: [...query.group, ...names.map(quoteName)] },
    },
  ];
}

/** Why a measure cannot be shown as parts of a whole, and what can; null if it can. */
export function partsProblem({ query }: ResolvedQuery): {
  misfit: string;
  repairs: Repair[];
} | null {
  const [measure = EVENTS] = query.measures;
  if (isAdditive(measure)) return null;
  return {
    misfit: `${measureLabel(measure)} does not add up, so it has no parts of a whole.`,
    repairs: [{ label: "Show events", query: { ...query, measures: [EVENTS] } }],
  };
}

/** Why the groups are no parts of a whole, and what can be shown instead; null if they are. */
export function groupsProblem(resolved: ResolvedQuery): ReturnType<typeof partsProblem> {
  if (!sharesRows(resolved.query.group)) return partsProblem(resolved);
  const misfit = "A row can be in several of these groups, so they are no parts of a whole.";
  return { misfit, repairs: [] };
}
