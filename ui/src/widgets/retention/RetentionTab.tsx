import { Button, Group, Loader, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Dispatch, FormEvent, SetStateAction } from "react";
import { fetchSettings, type Problem, serverNow } from "../../api/client";
import { settingsKey } from "../../api/settings";
import type { Column, Settings, Table } from "../../api/types";
import type { Zone } from "../../base/zone";
import { ProblemCard } from "../ProblemCard";
import { TokenForm } from "../TokenForm";
import classes from "./Retention.module.css";
import { RetentionForm } from "./RetentionForm";
import { RetentionChart, RetentionStatus } from "./RetentionStatus";
import { RetentionWarnings } from "./RetentionWarnings";
import {
  changesOf,
  type Draft,
  type Name,
  NO_DRAFT,
  refusedSetting,
  textsOf,
} from "./settingsDraft";
import { useSaveSettings } from "./useSaveSettings";

/** Rows go and come while one looks. */
const AGAIN_MS = 10_000;
/** The id of the form, whose buttons are in the foot. */
const FORM = "retention-form";

interface Props {
  table: Table;
  columns: readonly Column[];
  zone: Zone;
  /** What was typed and not saved; kept above, so that it outlives a look at another tab. */
  draft: Draft;
  onDraft: Dispatch<SetStateAction<Draft>>;
}

/** A table's retention: which rows will be deleted when, and the settings. */
export default function RetentionTab(props: Props) {
  const { table } = props;
  const { data, error, refetch, dataUpdatedAt } = useQuery<Settings, Problem>({
    queryKey: settingsKey(table.name),
    queryFn: ({ signal }) => fetchSettings(table.name, signal),
    refetchInterval: AGAIN_MS,
  });
  if (!data) {
    if (!error) return <Loader size="sm" aria-label="Loading" />;
    return <ProblemCard problem={error} onRetry={() => void refetch()} />;
  }
  const now = serverNow() - Date.now() + dataUpdatedAt;
  return <Retention key={table.name} {...props} current={data} now={now} />;
}

function Retention(props: Props & { current: Settings; now: number }) {
  const { current, table, zone, now, columns, onDraft } = props;
  const draft = props.draft.table === table.name ? props.draft : NO_DRAFT;
  const saving = useSaveSettings(current, draft, onDraft);
  const { problem } = saving;
  const texts = textsOf(current);
  const edit = (name: Name, text: string) => {
    saving.edited(name);
    const seen = draft.seen ?? { version: current.version, texts };
    onDraft({ table: table.name, edits: { ...draft.edits, [name]: text }, seen });
  };
  const undo = () => {
    saving.edited();
    onDraft(NO_DRAFT);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void saving.save();
  };
  const differs = Object.keys(changesOf(current, draft.edits)).length > 0;
  return (
    <div className={classes.tab}>
      <RetentionChart current={current} table={table} edits={draft.edits} now={now} zone={zone} />
      <RetentionStatus current={current} table={table} now={now} zone={zone} />
      {/* What is wrong is said by the server, in words. */}
      <form id={FORM} onSubmit={submit} noValidate>
        <RetentionForm
          current={current}
          columns={columns}
          texts={{ ...texts, ...draft.edits }}
          wrong={refusedSetting(problem?.body)}
          onEdit={edit}
        />
      </form>
      <div className={classes.foot}>
        {differs && (
          <RetentionWarnings current={current} table={table} draft={draft} now={now} zone={zone} />
        )}
        {problem && <Trouble problem={problem} stale={draft.seen?.version !== current.version} />}
        {problem?.needsToken && <TokenForm onDone={() => void saving.save()} />}
        <Group gap="xs">
          <Button type="submit" form={FORM} size="xs" disabled={!differs} loading={saving.busy}>
            Save
          </Button>
          <Button size="xs" variant="default" disabled={!differs || saving.busy} onClick={undo}>
            Undo
          </Button>
          <Text size="xs" c="var(--good)" role="status">
            {saving.saved && "Saved"}
          </Text>
        </Group>
      </div>
    </div>
  );
}

/** Why the settings were not saved, where no input and no other note says it. */
function Trouble({ problem, stale }: { problem: Problem; stale: boolean }) {
  if (refusedSetting(problem.body) || (problem.conflicts && stale)) return null;
  if (!problem.refused) return <ProblemCard problem={problem} />;
  return (
    <Text size="xs" c="var(--bad)" role="alert">
      Not saved: to change settings, this server needs the admin token
      {problem.needsToken ? "." : ` (${problem.message}).`}
    </Text>
  );
}
