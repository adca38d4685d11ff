import {
  Button,
  Checkbox,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { dropFunction, type Problem, putFunction } from "../../api/client";
import type { FunctionDefinition, FunctionType, VersionedFunction } from "../../api/functions";
import { ProblemCard } from "../ProblemCard";
import { TokenForm } from "../TokenForm";
import { isTemplate, newFunction, parametersOf, parametersText, TYPES } from "./functionDraft";

export const FUNCTIONS_KEY = ["functions"];

/** One function to edit, or a new one; it is compiled on the server when it is saved. */
export function FunctionForm(props: {
  current: VersionedFunction | null;
  /** Shows another function; null for a new one. */
  onShow: (name: string | null) => void;
}) {
  const { current, onShow } = props;
  const [draft, setDraft] = useState<FunctionDefinition>(
    current?.function ?? newFunction("scalar"),
  );
  const [parameters, setParameters] = useState(parametersText(draft.parameters));
  const parsed = parametersOf(parameters);
  const client = useQueryClient();
  const changed = () => client.invalidateQueries({ queryKey: FUNCTIONS_KEY });
  const save = useMutation<VersionedFunction, Problem>({
    mutationFn: () => putFunction(current?.version ?? 0, { ...draft, parameters: parsed ?? [] }),
    onSuccess: async ({ function: saved }) => {
      await changed();
      onShow(saved.name);
    },
  });
  const drop = useMutation<void, Problem>({
    mutationFn: () => dropFunction(draft.name),
    onSuccess: async () => {
      await changed();
      onShow(null);
    },
  });
  const edit = (part: Partial<FunctionDefinition>) => {
    save.reset();
    setDraft({ ...draft, ...part });
  };
  const problem = save.error ?? drop.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
      noValidate
    >
      <Stack gap="sm">
        {current === null && (
          <KindChoice
            draft={draft}
            onKind={(kind) => {
              const fresh = newFunction(kind);
              setParameters(parametersText(fresh.parameters));
              edit({ ...fresh, name: draft.name });
            }}
          />
        )}
        <Group align="start" gap="sm">
          <TextInput
            label="Name"
            required
            className="grows"
            value={draft.name}
            readOnly={current !== null}
            placeholder="stem"
            onChange={(event) => edit({ name: event.currentTarget.value })}
          />
          <TextInput
            label="Parameters"
            className="grows"
            value={parameters}
            placeholder="page string, n number"
            error={parsed === null && "Write each as a name and number, string or bool"}
            onChange={(event) => {
              save.reset();
              setParameters(event.currentTarget.value);
            }}
          />
          <Select
            label="Returns"
            w={110}
            data={[...TYPES]}
            allowDeselect={false}
            value={draft.returns}
            onChange={(value) => edit({ returns: (value ?? "number") as FunctionType })}
          />
        </Group>
        <Textarea
          label={draft.kind === "scalar" ? "Body" : "init, update, merge and finish"}
          autosize
          minRows={8}
          maxRows={30}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          value={draft.source}
          onChange={(event) => edit({ source: event.currentTarget.value })}
        />
        {draft.kind === "scalar" && (
          <Checkbox
            label="Call it with null arguments, too"
            checked={draft.called_on_null}
            onChange={(event) => edit({ called_on_null: event.currentTarget.checked })}
          />
        )}
        {problem && <ProblemCard problem={problem} />}
        {problem?.needsToken && (
          <TokenForm onDone={() => (save.error ? save.mutate() : drop.mutate())} />
        )}
        <Group gap="xs">
          <Button
            type="submit"
            size="xs"
            loading={save.isPending}
            disabled={draft.name.trim() === "" || parsed === null}
          >
            Save
          </Button>
          {current && <DropButton name={draft.name} busy={drop.isPending} onDrop={drop.mutate} />}
          {current && !save.isPending && (
            <Text size="xs" c="dimmed">
              Version {current.version}
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function KindChoice(props: {
  draft: FunctionDefinition;
  onKind: (kind: FunctionDefinition["kind"]) => void;
}) {
  const { draft, onKind } = props;
  return (
    <SegmentedControl
      aria-label="Kind"
      value={draft.kind}
      // A source that was written would be lost.
      disabled={!isTemplate(draft)}
      onChange={(kind) => onKind(kind === "aggregate" ? "aggregate" : "scalar")}
      data={[
        { value: "scalar", label: "A value for each row" },
        { value: "aggregate", label: "A value for each group" },
      ]}
    />
  );
}

/** Asks before it drops. */
function DropButton(props: { name: string; busy: boolean; onDrop: () => void }) {
  const { name, busy, onDrop } = props;
  const [sure, setSure] = useState(false);
  if (!sure) {
    return (
      <Button size="xs" variant="default" onClick={() => setSure(true)}>
        Drop…
      </Button>
    );
  }
  return (
    <>
      <Button size="xs" color="red" loading={busy} onClick={onDrop}>
        Drop {name}
      </Button>
      <Button size="xs" variant="default" onClick={() => setSure(false)}>
        Keep it
      </Button>
    </>
  );
}
