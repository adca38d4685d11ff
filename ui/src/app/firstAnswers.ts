// What the first picture needs, asked for before the page is drawn: each of its parts is then drawn
// once, with its answer. Requests and names in the cache are those of the parts themselves.

import type { QueryClient } from "@tanstack/react-query";
import type { Table } from "../api/types";
import { calendarZone } from "../base/zone";
import { answerQuery } from "../explore/answers";
import { columnStatsQuery, withAll } from "../explore/columnStats";
import { fitToColumns } from "../explore/fitToColumns";
import { columnsQuery, tablesQuery } from "../explore/tableColumns";
import type { Query } from "../query/query";
import type { ResolvedQuery } from "../query/spec";
import { rangeIn } from "../query/time";
import { VIEWS } from "../views/registry";
import { columnUnits, settingsQuery } from "../widgets/columns/columnUnits";
import { asked, pageOf } from "./address";
import { completeAddress } from "./initialQuery";
import { moveOn } from "./moment";
import { storedZone } from "./settings";

/**
 * Asks for what the address shows; completes the address where it names no table or range. Resolves
 * once the first answers are there. What fails is left to the page, which asks again, and so is what
 * is not known when the page is `drawn`.
 */
export async function askFirst(client: QueryClient, drawn: AbortSignal): Promise<void> {
  if (pageOf(window.location.search) !== "query") return;
  const tables = await client.fetchQuery(tablesQuery).catch(() => []);
  if (drawn.aborted) return;
  const now = moveOn();
  completeAddress(tables, now);
  const { query, ignored } = asked();
  if (ignored.length > 0) return;
  const table = tables.find(({ name }) => name === query?.table);
  // The types of derived columns are questions of their own.
  if (!query || !table || query.define.length > 0) return;
  const resolved = await resolve(client, query, table, now);
  if (resolved && !drawn.aborted) await askOfView(client, resolved);
}

/** A query with all that is known of its columns; null if the server does not say them. */
async function resolve(
  client: QueryClient,
  query: Query,
  table: Table,
  now: number,
): Promise<ResolvedQuery | null> {
  const { name } = table;
  const [named, stats, settings] = await Promise.all([
    client.fetchQuery(columnsQuery(table)).catch(() => null),
    // To scan for what the columns are like would delay a view that does not need it.
    viewOf(query)?.askFirst && client.fetchQuery(columnStatsQuery(table)).catch(() => undefined),
    client.fetchQuery(settingsQuery(name)).catch(() => undefined),
  ]);
  if (named === null) return null;
  const columns = withAll(named, stats, columnUnits(name, settings));
  const fitted = fitToColumns(query, columns, now, VIEWS).query;
  const zone = calendarZone(storedZone());
  return { query: fitted, columns, range: rangeIn(fitted, table, now), zone };
}

const viewOf = (query: Query) => VIEWS.find(({ kind }) => kind === query.view.kind);

/** Asks for all that a view draws first. */
async function askOfView(client: QueryClient, resolved: ResolvedQuery): Promise<void> {
  const view = viewOf(resolved.query);
  const plan = view?.plan(resolved);
  // A view of SQL asks what is written in it.
  if (!view || !plan || !("spec" in plan) || view.sqlOption) return;
  const answer = (spec: typeof plan.spec) => client.fetchQuery(answerQuery(spec));
  await Promise.allSettled([answer(plan.spec), view.askFirst?.(resolved, answer)]);
}
