import { useLayoutEffect, useMemo } from "react";
import {
  elementsFilter,
  exclude,
  only,
  type Pick,
  pickLabel,
  toggleGroup,
  withFilter,
} from "../query/edit";
import type { Question } from "../query/query";
import { columnOf } from "../query/sql";
import { within } from "../query/time";
import { ActionMenu, type Actions, type PartAction } from "../widgets/ActionMenu";
import { cellText, rawText } from "./CellText";
import { informative } from "./columnRanking";
import { type Mark, useDive } from "./context";

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

/** The menu of a mark: what its values and its time let one do with the question. */
export function MarkMenu({ mark, onClose }: { mark: Mark; onClose: () => void }) {
  const { question, columns, commit } = useDive();
  useFocusBack();
  const names = useMemo(() => {
    const grouped = new Set(question.group.map((it) => columnOf(it) ?? it));
    const first = informative(columns, question, 50).map((it) => it.name);
    const rest = columns.map((it) => it.name).filter((name) => !first.includes(name));
    return [...first, ...rest].filter((name) => !grouped.has(name));
  }, [question, columns]);
  const { picks, range } = mark;
  const narrow = mark.narrow ?? ((it: Question) => only(it, picks));
  const narrows = mark.narrow !== undefined || picks.length > 0;
  const inTime = range ? within(question, range) : question;
  const actions: Actions = {
    groupBy: (column) => {
      commit(toggleGroup(narrow(question), column));
      onClose();
    },
    samples: () => commit({ ...narrow(inTime), view: "samples" }),
    // Values as they are, so that they can be pasted into a query; of other marks what they say.
    copy: () =>
      void navigator.clipboard?.writeText(
        range || picks.length === 0 ? mark.label : picks.map((it) => rawText(it.value)).join("\t"),
      ),
  };
  if (narrows) actions.only = () => commit(narrow(question));
  const without = mark.without ?? ((it: Question) => exclude(it, picks));
  if (mark.without || picks.length > 0) actions.exclude = () => commit(without(question));
  if (range) actions.zoom = () => commit(inTime);
  if (question.view !== "time")
    actions.overTime = () => commit({ ...narrow(inTime), view: "time" });
  if (question.compare === "")
    actions.compare = () => commit({ ...narrow(question), compare: "7d" });
  return (
    <ActionMenu
      label={mark.label}
      point={mark.point}
      columns={names}
      actions={actions}
      parts={useParts(picks)}
      onClose={onClose}
    />
  );
}

/** What can be done with one of several values, or with the elements of a list. */
function useParts(picks: readonly Pick[]): PartAction[] {
  const { question, zone, identifiers, commit } = useDive();
  const [single] = picks;
  if (single && picks.length === 1) {
    const filter = elementsFilter(single);
    if (!filter) return [];
    const words = `Only with ${filter.values.length === 1 ? "this" : "all of these"} among others`;
    return [{ label: words, kind: "only", run: () => commit(withFilter(question, filter)) }];
  }
  return picks.flatMap((pick): PartAction[] => {
    const text = cellText(pick.value, pick.type, zone, identifiers.has(pick.column));
    const label = pickLabel(pick, text);
    return [
      { label: `Only ${label}`, kind: "only", run: () => commit(only(question, [pick])) },
      { label: `Exclude ${label}`, kind: "exclude", run: () => commit(exclude(question, [pick])) },
    ];
  });
}
