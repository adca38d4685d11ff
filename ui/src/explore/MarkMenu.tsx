import { useLayoutEffect, useMemo } from "react";
import {
  elementsFilter,
  exclude,
  only,
  type PickedValue,
  pickLabel,
  toggleGroup,
  withFilter,
} from "../query/edit";
import { PREVIOUS, type Query } from "../query/query";
import { SELECTED, selectionSql } from "../query/selection";
import { columnOf } from "../query/sql";
import { withRange } from "../query/time";
import { viewShowing, withOption, withView } from "../query/viewManifest";
import { ActionMenu, type Actions, type PartAction } from "../widgets/ActionMenu";
import { copyText } from "../widgets/clipboard";
import { cellText, rawText } from "./CellText";
import { rankColumns } from "./columnRanking";
import { type Explore, type Mark, useExplore } from "./context";

/** Gives the focus back to where it was before a menu, or to the answer if that is no more. */
function useFocusBack(): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      // When the menu has gone, and with it perhaps what it was opened on.
      requestAnimationFrame(() => {
        if (document.activeElement && document.activeElement !== document.body) return;
        const there = before?.isConnected && before !== document.body ? before : null;
        const target = there ?? document.getElementById("answer");
        if (target instanceof HTMLElement) target.focus({ preventScroll: true });
      });
    };
  }, []);
}

/** The menu of a mark: what its values and its time let one do with the query. */
export function MarkMenu({ mark, onClose }: { mark: Mark; onClose: () => void }) {
  const { query, columns, views, commit } = useExplore();
  useFocusBack();
  const names = useMemo(() => {
    const grouped = new Set(query.group.map((it) => columnOf(it) ?? it));
    const first = rankColumns(columns, query, 50).map((it) => it.name);
    const rest = columns.map((it) => it.name).filter((name) => !first.includes(name));
    return [...first, ...rest].filter((name) => !grouped.has(name));
  }, [query, columns]);
  const { picks, range } = mark;
  const narrow = mark.narrow ?? ((from: Query) => only(from, picks));
  const narrows = mark.narrow !== undefined || picks.length > 0;
  const inTime = range ? withRange(query, range) : query;
  const actions: Actions = {
    groupBy: (column) => {
      commit(toggleGroup(narrow(query), column, views));
      onClose();
    },
    samples: () => commit(withView(narrow(inTime), "samples")),
    // Values as they are, so that they can be pasted into a query; of other marks what they say.
    copy: () =>
      void copyText(
        range || picks.length === 0 ? mark.label : picks.map((it) => rawText(it.value)).join("\t"),
      ),
  };
  if (narrows) {
    actions.only = () => commit(narrow(query));
  }
  // What is filtered to already has no rest: then all rows without it are the rest.
  const isFilter = narrows && !range && urlText(narrow(query)) === urlText(query);
  const selected = selectionSql(query, columns, narrow, range);
  if (isFilter) actions.why = () => commit(withView({ ...query, compare: "" }, "why"));
  else if (selected !== "") {
    const alone = { ...query, compare: "" };
    actions.why = () => commit(withView(withOption(alone, SELECTED, selected), "why"));
    actions.rest = () => commit(besideTheRest(alone, selected, views));
  }
  const without = mark.without ?? ((from: Query) => exclude(from, picks));
  if (mark.without || picks.length > 0) actions.exclude = () => commit(without(query));
  if (range) actions.zoom = () => commit(inTime);
  if (query.view.kind !== "time") actions.overTime = () => commit(withView(narrow(inTime), "time"));
  if (query.compare === "") actions.compare = () => commit({ ...narrow(query), compare: PREVIOUS });
  return (
    <ActionMenu
      label={mark.label}
      point={mark.point}
      columns={names}
      actions={mark.copies === undefined ? actions : copyOnly(mark.copies)}
      parts={useParts(picks)}
      onClose={onClose}
    />
  );
}

const copyOnly = (text: string): Actions => ({ copy: () => void copyText(text) });

const urlText = ({ filters, where }: Query) => JSON.stringify([filters, where]);

/** The selected rows and the rest as two groups; not over time, where they are next to each other. */
function besideTheRest(query: Query, selected: string, views: Explore["views"]): Query {
  const grouped = { ...query, group: [`(${selected}) AS selected`], order: "" };
  return viewShowing(
    query.view.kind === "time" ? withView(grouped, "table") : grouped,
    views,
    "groups",
  );
}

/** What can be done with one of several values, or with the elements of a list. */
function useParts(picks: readonly PickedValue[]): PartAction[] {
  const { query, zone, identifiers, commit } = useExplore();
  const [single] = picks;
  if (single && picks.length === 1) {
    const filter = elementsFilter(single);
    if (!filter) return [];
    const words = `Filter to those with ${filter.values.length === 1 ? "this" : "all of these"} among others`;
    return [{ label: words, kind: "only", run: () => commit(withFilter(query, filter)) }];
  }
  return picks.flatMap((pick): PartAction[] => {
    const text = cellText(pick.value, pick.type, zone, identifiers.has(pick.column));
    const label = pickLabel(pick, text);
    return [
      { label: `Filter to ${label}`, kind: "only", run: () => commit(only(query, [pick])) },
      { label: `Exclude ${label}`, kind: "exclude", run: () => commit(exclude(query, [pick])) },
    ];
  });
}
