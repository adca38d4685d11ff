import { Button, Group, NativeSelect, Popover, Stack, Text } from "@mantine/core";
import { useClickOutside } from "@mantine/hooks";
import { IconSwitchHorizontal } from "@tabler/icons-react";
import { type ReactElement, type RefObject, useLayoutEffect, useState } from "react";
import { serverNow } from "../../api/client";
import type { Column } from "../../api/types";
import { timeText } from "../../base/zone";
import {
  type Filter,
  filterText,
  OPERATORS,
  type Operator,
  operatorsFor,
} from "../../query/filter";
import type { ResolvedRows } from "../../query/spec";
import { TypeIcon } from "../columns/TypeIcon";
import { typedMoment } from "../time/timeWords";
import classes from "../widgets.module.css";
import { type Draft, draftProblem, finished, type Target, withOperator } from "./filterDraft";
import { ValuesInput } from "./ValuesInput";

interface EditorProps {
  resolved: ResolvedRows;
  /** The filtered column. A whole `Column` also says whether its values can be listed. */
  column: Target | Column;
  initial: Draft;
  onCommit: (filter: Filter) => void;
  onCancel: () => void;
  /** Backspace in an editor that holds nothing. */
  onBack?: () => void;
}

/** Writes one filter. Enter, Apply or a click elsewhere commit it, Esc drops it. */
export function FilterEditor({
  resolved,
  column,
  initial,
  onCommit,
  onCancel,
  onBack,
}: EditorProps) {
  const [draft, setDraft] = useState(initial);
  const [tried, setTried] = useState(false);
  const now = serverNow();
  const problem = draftProblem(draft, column.type, now);
  const commit = (it: Draft) => {
    const filter = finished(it, column, serverNow());
    if (filter) onCommit(filter);
    // What is wrong stays where it was typed, to be put right.
    setTried(true);
  };
  const root = useClickOutside<HTMLDivElement>((event) => {
    // What opened the editor closes it by itself.
    if ((event.target as Element | null)?.closest?.('[aria-expanded="true"]')) return;
    const filter = finished(draft, column, serverNow());
    const before = finished(initial, column, serverNow());
    if (filter && !(before && filterText(before) === filterText(filter))) onCommit(filter);
    else onCancel();
  });
  useFocusWithin(root);
  const { takes, opposite } = OPERATORS[draft.operator];
  return (
    <Stack
      ref={root}
      gap={6}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <Head column={column} draft={draft} onDraft={setDraft} />
      {takes !== "none" && (
        <ValuesInput
          resolved={resolved}
          column={column}
          draft={draft}
          // Half a word is no mistake yet, one that cannot become right is.
          problem={tried || isHopeless(draft, column) ? problem : null}
          onDraft={setDraft}
          onEnter={commit}
          onBack={onBack}
        />
      )}
      <Group gap={6} justify="flex-end">
        {column.type === "time" && takes === "one" && (
          <Text size="xs" c="dimmed" flex={1} className="numbers" aria-live="polite">
            {understood(draft.text, now)}
          </Text>
        )}
        {opposite && (
          <Button
            variant="default"
            size="compact-xs"
            h={26}
            leftSection={<IconSwitchHorizontal size={14} />}
            title={`Invert: ${OPERATORS[opposite].label}`}
            onClick={() => setDraft(withOperator(draft, opposite))}
          >
            Invert
          </Button>
        )}
        <Button size="compact-xs" h={26} px="sm" onClick={() => commit(draft)}>
          Apply
        </Button>
      </Group>
    </Stack>
  );
}

/**
 * Takes the focus as soon as the editor is there and gives it back when it goes: no later than the
 * key that opened or closed it, since the next one may follow at once.
 */
function useFocusWithin(root: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const fields = ["[data-autofocus]", "select"].map((it) => root.current?.querySelector(it));
    const field = fields.find((it) => it instanceof HTMLElement);
    if (field instanceof HTMLElement) field.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected)
        before.focus({ preventScroll: true });
    };
  }, [root]);
}

/** The moment that a typed time means; filters hold it in UTC, as SQL does. */
function understood(text: string, now: number): string {
  const at = typedMoment(text, now, "UTC");
  return at === null ? "" : `${timeText(at, "UTC")} UTC`;
}

function isHopeless(draft: Draft, column: Target): boolean {
  return column.type === "number" && /[^\d.,eE+\-\s]/.test(draft.text);
}

function Head(props: { column: Target | Column; draft: Draft; onDraft: (draft: Draft) => void }) {
  const { column, draft, onDraft } = props;
  const fitting = operatorsFor(column.type);
  const operators = fitting.includes(draft.operator) ? fitting : [draft.operator, ...fitting];
  return (
    <Group gap={8} wrap="nowrap">
      <TypeIcon type={column.type} />
      <Text span fz={12} fw={600} className={classes.name} title={column.name}>
        {column.name}
      </Text>
      <NativeSelect
        size="xs"
        w={132}
        flex="none"
        aria-label="Operator"
        value={draft.operator}
        onChange={(event) => onDraft(withOperator(draft, event.currentTarget.value as Operator))}
        data={operators.map((it) => ({ value: it, label: OPERATORS[it].label }))}
      />
    </Group>
  );
}

/** The editor in a popover at its target. */
export function FilterPopover(props: EditorProps & { opened: boolean; children: ReactElement }) {
  const { opened, children, ...editor } = props;
  return (
    <Popover
      opened={opened}
      position="bottom-start"
      width={296}
      shadow="md"
      trapFocus
      withRoles={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      offset={4}
      transitionProps={{ duration: 0 }}
    >
      <Popover.Target>{children}</Popover.Target>
      <Popover.Dropdown
        p={8}
        maw="calc(100vw - 16px)"
        role="dialog"
        aria-label={`Filter ${props.column.name}`}
      >
        <FilterEditor key={props.column.name} {...editor} />
      </Popover.Dropdown>
    </Popover>
  );
}
