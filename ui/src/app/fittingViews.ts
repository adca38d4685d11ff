// Which views can show a query, and which of them stand in the row.

import type { ResolvedQuery } from "../query/spec";
import type { ViewManifest } from "../query/viewManifest";

/** A view, and how it goes with a query. */
export interface FittingView {
  readonly view: ViewManifest;
  /** Why it cannot show the query; null if it can. */
  readonly misfit: string | null;
  readonly suggested: boolean;
}

/** As many views stand in the row, one for each of the keys 1 to 9. */
export const ROW_MOST = 9;

/** All views in their order, each with whether it fits. */
export function fittingViews(
  resolved: ResolvedQuery,
  views: readonly ViewManifest[],
): FittingView[] {
  return views.map((view) => {
    const plan = view.plan(resolved);
    const fits = "spec" in plan;
    return {
      view,
      misfit: fits ? null : plan.misfit,
      suggested: fits && view.suggests?.(resolved) === true,
    };
  });
}

/**
 * The views of the row, in the order of all views: the one that is shown, those that the query
 * suggests, and then the first that fit. Those that stand apart come after them.
 */
export function rowOf(fitting: readonly FittingView[], shown: string): FittingView[] {
  const apart = fitting.filter(({ view }) => view.apart);
  const fit = fitting.filter(
    ({ view, misfit }) => !view.apart && (misfit === null || view.kind === shown),
  );
  const rank = ({ view, suggested }: FittingView) => (view.kind === shown ? 0 : suggested ? 1 : 2);
  const chosen = new Set(fit.toSorted((a, b) => rank(a) - rank(b)).slice(0, ROW_MOST));
  return [...fit.filter((it) => chosen.has(it)), ...apart];
}
