// What the overview asks before it is drawn.

import type { Column } from "../../api/types";
import { EVENTS, type ResolvedQuery } from "../../query/spec";
import type { Answers } from "../../query/viewManifest";
import { haveStats, numberColumns, valueColumns } from "./facetColumns";
import { headlines } from "./headlines";
import { barsSpec, facetSpec, headlineSpec, numberSpec, percentilesOf } from "./spec";

/** Asks for the numbers at the head, and for the facets of columns whose statistics are known. */
export async function askFirst(resolved: ResolvedQuery, answer: Answers): Promise<void> {
  const { query, columns } = resolved;
  const measures = headlines(columns, query.measures[0] ?? EVENTS);
  const ranked = haveStats(columns);
  const values = ranked ? valueColumns(columns, query) : [];
  const numbers = ranked ? numberColumns(columns, values) : [];
  await Promise.allSettled([
    // They are asked twice, one after the other.
    ...numbers.map((column) => askSpread(resolved, column, answer)),
    ...values.map((column) => answer(facetSpec(resolved, column.name))),
    answer(headlineSpec(resolved, measures)),
  ]);
}

async function askSpread(resolved: ResolvedQuery, { name }: Column, answer: Answers) {
  const percentiles = percentilesOf(await answer(numberSpec(resolved, name)));
  if (percentiles) await answer(barsSpec(resolved, name, percentiles));
}
