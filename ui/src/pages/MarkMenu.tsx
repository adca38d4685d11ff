import { useMemo } from "react";
import { exclude, only, samplesOf, toggleGroup } from "../query/edit";
import { columnOf } from "../query/sql";
import { within } from "../query/time";
import { ActionMenu, type Actions } from "../widgets/ActionMenu";
import { type Mark, useDive } from "./dive";
import { informative } from "./informative";

/** The menu of a mark: what its values and its time let one do with the question. */
export function MarkMenu({ mark, onClose }: { mark: Mark; onClose: () => void }) {
  const { question, columns, commit } = useDive();
  const names = useMemo(() => {
    const grouped = new Set(question.group.map((it) => columnOf(it) ?? it));
    const first = informative(columns, question, 50).map((it) => it.name);
    const rest = columns.map((it) => it.name).filter((name) => !first.includes(name));
    return [...first, ...rest].filter((name) => !grouped.has(name));
  }, [question, columns]);
  const { picks, range } = mark;
  const inTime = range ? within(question, range) : question;
  const picked = only(inTime, picks);
  const actions: Actions = {
    groupBy: (column) => {
      commit(toggleGroup(only(question, picks), column));
      onClose();
    },
    samples: mark.samples ?? (() => commit(samplesOf(inTime, picks))),
    copy: () => void navigator.clipboard?.writeText(mark.label),
  };
  if (mark.only ?? picks.length > 0)
    actions.only = mark.only ?? (() => commit(only(question, picks)));
  const [single] = picks;
  if (single && picks.length === 1) actions.exclude = () => commit(exclude(question, single));
  if (range) actions.zoom = () => commit(inTime);
  if (question.view !== "time")
    actions.overTime = () => commit({ ...(mark.only ? question : picked), view: "time" });
  if (question.compare === "") {
    actions.compare = () =>
      commit({ ...(mark.only ? question : only(question, picks)), compare: "7d" });
  }
  return (
    <ActionMenu
      label={mark.label}
      point={mark.point}
      columns={names}
      actions={actions}
      onClose={onClose}
    />
  );
}
