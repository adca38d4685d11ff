import { ActionIcon, Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconMathFunction, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, type Problem } from "../../api/client";
import type { Answer } from "../../api/types";
import { visible } from "../../base/format";
import { type Definition, withDefinition } from "../../query/definition";
import { baseSpec, EVENTS, type ResolvedQuery } from "../../query/spec";
import { quoteName } from "../../query/sql";
import classes from "./ColumnsTab.module.css";

const NEW: Definition = { name: "", sql: "" };
const TYPING_MS = 150;
const PREVIEWED = 5;

/** The derived columns of a query, and a form for another one. */
export function DerivedColumns(props: {
  resolved: ResolvedQuery;
  onDefine: (definition: Definition, before: string) => void;
  onRemove: (name: string) => void;
}) {
  const { resolved, onDefine, onRemove } = props;
  const { define } = resolved.query;
  const [edited, setEdited] = useState<Definition | null>(null);
  return (
    <Stack gap={6} component="section" aria-label="Derived columns">
      {define.map((definition) => (
        <Group key={definition.name} gap={4} wrap="nowrap" px={6}>
          <Text fz={12.5} className="clipped" flex={1} title={definition.sql}>
            {visible(definition.name)}{" "}
            <Text span inherit c="dimmed">
              = {definition.sql}
            </Text>
          </Text>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={`Edit ${definition.name}`}
            onClick={() => setEdited(definition)}
          >
            <IconPencil size={13} />
          </ActionIcon>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={`Remove ${definition.name}`}
            onClick={() => onRemove(definition.name)}
          >
            <IconTrash size={13} />
          </ActionIcon>
        </Group>
      ))}
      {edited === null ? (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconMathFunction size={14} />}
          onClick={() => setEdited(NEW)}
        >
          New column
        </Button>
      ) : (
        <DefinitionForm
          key={edited.name}
          resolved={resolved}
          initial={edited}
          onDone={(definition) => {
            onDefine(definition, edited.name);
            setEdited(null);
          }}
          onCancel={() => setEdited(null)}
        />
      )}
    </Stack>
  );
}

function DefinitionForm(props: {
  resolved: ResolvedQuery;
  initial: Definition;
  onDone: (definition: Definition) => void;
  onCancel: () => void;
}) {
  const { resolved, initial, onDone, onCancel } = props;
  const [name, setName] = useState(initial.name);
  const [sql, setSql] = useState(initial.sql);
  const [asked] = useDebouncedValue(sql.trim(), TYPING_MS);
  const preview = usePreview(resolved, { name: initial.name || "preview", sql: asked });
  const isWhole = name.trim() !== "" && sql.trim() !== "" && asked === sql.trim();
  const isRight = isWhole && preview.data !== undefined && !preview.isPlaceholderData;
  return (
    <form
      className={classes.detail}
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight) onDone({ name: name.trim(), sql: sql.trim() });
      }}
    >
      <Stack gap={6}>
        <TextInput
          size="xs"
          label="Name"
          placeholder="seconds"
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          size="xs"
          label="SQL expression"
          placeholder="latency_us / 1000000"
          autosize
          maxRows={6}
          spellCheck={false}
          value={sql}
          onChange={(event) => setSql(event.currentTarget.value)}
        />
        {asked !== "" && <Preview data={preview.data} error={preview.error} />}
        <Group gap={6}>
          <Button size="compact-xs" type="submit" disabled={!isRight}>
            {initial.name === "" ? "Add column" : "Save column"}
          </Button>
          <Button size="compact-xs" variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The most frequent values of an expression in the rows that the query is about. */
function usePreview(resolved: ResolvedQuery, definition: Definition) {
  const query = withDefinition(resolved.query, definition);
  const spec = {
    ...baseSpec({ ...resolved, query }),
    group_by: [quoteName(definition.name)],
    aggregates: [EVENTS],
    order_by: [`${EVENTS} DESC`],
    limit: PREVIEWED,
  };
  return useQuery<Answer, Problem>({
    queryKey: ["preview", spec],
    queryFn: ({ signal }) => ask(spec, signal, undefined, true),
    enabled: definition.sql !== "",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    placeholderData: (before) => before,
  });
}

function Preview({ data, error }: { data: Answer | undefined; error: Problem | null }) {
  if (error) {
    return (
      <Text size="xs" c="var(--warn)" role="alert">
        {error.body.detail}
      </Text>
    );
  }
  if (!data) return null;
  const values = data.rows.map(([value = null]) =>
    value === null ? "(none)" : Array.isArray(value) ? value.join(", ") : String(value),
  );
  return (
    <Text size="xs" data-testid="preview">
      <Text span inherit c="dimmed">
        {data.columns[0]?.type}:
      </Text>{" "}
      {values.length === 0 ? "no rows here" : values.map(visible).join(" · ")}
    </Text>
  );
}
