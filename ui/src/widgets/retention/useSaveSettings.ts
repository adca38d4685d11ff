import { useQueryClient } from "@tanstack/react-query";
import { type Dispatch, type SetStateAction, useState } from "react";
import { Problem, putSettings } from "../../api/client";
import { settingsKey } from "../../api/settings";
import type { Settings } from "../../api/types";
import {
  type Draft,
  inputId,
  type Name,
  NO_DRAFT,
  refusedSetting,
  settingsWith,
} from "./settingsDraft";

/** How a draft becomes the table's settings, and how that went. */
export function useSaveSettings(
  current: Settings,
  draft: Draft,
  onDraft: Dispatch<SetStateAction<Draft>>,
) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { table, version } = current;
  const save = async () => {
    if (busy) return;
    const queryKey = settingsKey(table);
    setBusy(true);
    setProblem(null);
    try {
      const now = await putSettings(table, version, settingsWith(current, draft.edits));
      // What was asked before would overwrite it.
      await client.cancelQueries({ queryKey });
      client.setQueryData(queryKey, now);
      void client.invalidateQueries({ queryKey: ["tables"] });
      onDraft((it) => (it.table === table ? withoutSent(it, draft) : it));
      setSaved(true);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // Theirs come into the form, but for what was edited.
      if (error.conflicts) await client.refetchQueries({ queryKey });
      setProblem(error);
      const wrong = refusedSetting(error.body);
      const input = wrong && document.getElementById(inputId(wrong.name));
      input?.focus({ preventScroll: true });
      // The foot would hide it at the end of what is in sight.
      input?.scrollIntoView({ block: "center" });
    } finally {
      setBusy(false);
    }
  };
  /** Something was edited, or all of it undone: what was said before may not be so any more. */
  const edited = (name?: Name) => {
    setSaved(false);
    const wrong = refusedSetting(problem?.body);
    if (!wrong || !name || wrong.name === name) setProblem(null);
  };
  return { busy, saved, problem, save, edited };
}

/** What was typed while the rest was on its way. */
function withoutSent(draft: Draft, sent: Draft): Draft {
  const left = Object.entries(draft.edits).filter(
    ([name, text]) => sent.edits[name as Name] !== text,
  );
  return left.length === 0 ? NO_DRAFT : { ...draft, edits: Object.fromEntries(left), seen: null };
}
