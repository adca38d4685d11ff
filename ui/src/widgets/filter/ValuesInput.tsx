import { Combobox, Pill, PillsInput, ScrollArea, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck } from "@tabler/icons-react";
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { numberOf, serverNow } from "../../api/client";
import type { ColumnValue } from "../../api/types";
import { exact, short, visible } from "../../base/format";
import type { ResolvedRows } from "../../query/spec";
import { bestValues, useColumnValues } from "../columns/useColumnValues";
import classes from "../widgets.module.css";
import {
  completes,
  type Draft,
  joined,
  severalOf,
  splitList,
  type Target,
  ticked,
  valueProblem,
} from "./filterDraft";

const DEBOUNCE_MS = 150;
const TYPED = "typed";

interface Props {
  resolved: ResolvedRows;
  column: Target;
  draft: Draft;
  problem: string | null;
  onDraft: (draft: Draft) => void;
  /** The draft is what is wanted. */
  onEnter: (draft: Draft) => void;
  /** Backspace where nothing is left to delete. */
  onBack?: (() => void) | undefined;
}

/** The values of a filter: typed, pasted, or picked from those that the column has. */
export function ValuesInput(props: Props) {
  const { resolved, column, draft, problem, onDraft, onEnter } = props;
  const many = severalOf(draft.operator);
  const combobox = useCombobox({ opened: true });
  // Whether the next choice comes by a click, which only ticks.
  const ticks = useRef(false);
  const choose = (option: string) => {
    const value = option === TYPED ? draft.text.trim() : option.slice(1);
    if (ticks.current && option !== TYPED) onDraft(ticked(draft, value));
    else if (ticks.current) onDraft({ ...draft, values: [...draft.values, value], text: "" });
    else if (draft.looksFor) onEnter(draft);
    else onEnter({ ...draft, values: joined(draft.operator, draft.values, [value]), text: "" });
  };
  return (
    <Combobox store={combobox} onOptionSubmit={choose} size="xs">
      <PillsInput size="xs" error={problem} inputWrapperOrder={["input", "error"]}>
        <Pill.Group gap={4}>
          {draft.values.map((value, place) => (
            <Pill
              // biome-ignore lint/suspicious/noArrayIndexKey: the elements of a list may repeat
              key={`${place} ${value}`}
              size="sm"
              withRemoveButton
              maw="100%"
              title={value}
              removeButtonProps={{ "aria-label": `Remove ${value}`, "aria-hidden": false }}
              onRemove={() =>
                onDraft({ ...draft, values: draft.values.filter((_, at) => at !== place) })
              }
            >
              {value === "" ? "(empty text)" : visible(value)}
            </Pill>
          ))}
          <Combobox.EventsTarget>
            <ValueField {...props} many={many} ticks={ticks} />
          </Combobox.EventsTarget>
        </Pill.Group>
      </PillsInput>
      {completes(draft.operator, column.type) && (
        <Choices
          resolved={resolved}
          column={column}
          draft={draft}
          ticks={ticks}
          onChange={combobox.selectFirstOption}
          onNone={combobox.resetSelectedOption}
        />
      )}
    </Combobox>
  );
}

interface FieldProps extends Props {
  many: boolean;
  ticks: { current: boolean };
}

function ValueField({
  resolved: _resolved,
  column,
  draft,
  problem: _problem,
  onDraft,
  onEnter,
  onBack,
  many,
  ticks,
  onKeyDown,
  ...target
}: FieldProps & { onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void }) {
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    ticks.current = event.shiftKey || event.ctrlKey || event.metaKey;
    const typed = draft.text.trim();
    if (event.key === "Backspace" && draft.text === "") {
      if (many && draft.values.length > 0) onDraft({ ...draft, values: draft.values.slice(0, -1) });
      else onBack?.();
    }
    // A comma ends a value, as long as it is not quoted.
    if (event.key === "," && many && typed !== "" && !typed.startsWith('"')) {
      event.preventDefault();
      onDraft(withList(draft, typed));
    }
    onKeyDown?.(event);
    // What the list of values took is done.
    if (event.key === "Enter" && !event.defaultPrevented) {
      event.preventDefault();
      onEnter(many ? withList(draft, draft.text) : draft);
    }
  };
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData("text");
    if (!many || !/[\n,\t]/.test(text.trim())) return;
    event.preventDefault();
    onDraft(withList(draft, text));
  };
  const words = column.type === "time" ? "-3h or 2026-11-21 03:51" : "Value";
  return (
    <PillsInput.Field
      {...target}
      data-autofocus
      aria-label={`Value of ${column.name}`}
      placeholder={draft.values.length > 0 ? "and…" : words}
      inputMode={column.type === "number" ? "decimal" : "text"}
      spellCheck={false}
      value={draft.text}
      onChange={(event) => onDraft({ ...draft, text: event.currentTarget.value, looksFor: false })}
      onKeyDown={keyDown}
      onPaste={paste}
    />
  );
}

function withList(draft: Draft, text: string): Draft {
  return { ...draft, values: joined(draft.operator, draft.values, splitList(text)), text: "" };
}

interface ChoicesProps {
  resolved: ResolvedRows;
  column: Target;
  draft: Draft;
  ticks: { current: boolean };
  onChange: () => void;
  onNone: () => void;
}

/** The values that the column has, with their counts; what was typed stands among them. */
function Choices({ resolved, column, draft, ticks, onChange, onNone }: ChoicesProps) {
  const text = draft.text.trim();
  const [part] = useDebouncedValue(text, DEBOUNCE_MS);
  const { values, enabled, pending, failed } = useColumnValues(resolved, column, part);
  const isTyped = ({ value }: ColumnValue) => String(value) === text;
  // What was typed in full is meant, however rare it is.
  const shown = bestValues(values, text);
  const isListed = shown.some(isTyped);
  const largest = Math.max(...shown.map((it) => it.count), 1);
  // Numbers are meant as they are typed; a part of a text more likely means a text that is there.
  const typedFirst = column.type === "number" || shown.length === 0;
  const fits = text !== "" && valueProblem(text, column.type, serverNow()) === null;
  const typed = fits && !isListed && !text.includes(",") && (
    <Combobox.Option value={TYPED} className={classes.option ?? ""}>
      <span className={classes.name}>{text}</span> <span className="faint">as typed</span>
    </Combobox.Option>
  );
  const list = shown.map(({ value }) => String(value)).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list that is drawn decides
  useEffect(() => {
    if (text === "") onNone();
    else onChange();
  }, [text, list, onChange, onNone]);
  return (
    <>
      <ScrollArea.Autosize
        mah={232}
        type="auto"
        mt={4}
        mx={-8}
        scrollbarSize={6}
        offsetScrollbars="present"
      >
        <Combobox.Options
          aria-label={`Values of ${column.name}`}
          onMouseDownCapture={() => {
            ticks.current = true;
          }}
        >
          {typedFirst && typed}
          {shown.map((it) => (
            <ValueOption
              key={String(it.value)}
              entry={it}
              share={it.count / largest}
              on={draft.values.includes(String(it.value))}
            />
          ))}
          {!typedFirst && typed}
        </Combobox.Options>
      </ScrollArea.Autosize>
      <div className={classes.hint} aria-live="polite">
        {hintOf({ enabled, pending, failed, found: shown.length > 0, text })}
      </div>
    </>
  );
}

function hintOf(state: {
  enabled: boolean;
  pending: boolean;
  failed: boolean;
  found: boolean;
  text: string;
}): string {
  if (state.found) return "Click ticks a value, Enter or Apply filters.";
  if (!state.enabled) return "Too many values to list them all. Type what you look for.";
  if (state.pending) return "Looking for values…";
  if (state.failed) return "The values cannot be listed. Type what you look for.";
  return state.text === "" ? "No values yet." : "No value contains this.";
}

function ValueOption({ entry, share, on }: { entry: ColumnValue; share: number; on: boolean }) {
  const value = String(entry.value);
  const count = numberOf(entry.count) ?? 0;
  return (
    <Combobox.Option
      value={`=${value}`}
      active={on}
      className={classes.option ?? ""}
      p={0}
      aria-selected={on}
    >
      <div className={classes.value}>
        <span className={classes.tick} data-on={on} aria-hidden="true">
          <IconCheck size={11} stroke={3} />
        </span>
        <span className={classes.name} title={value}>
          {value === "" ? <span className={classes.empty}>(empty text)</span> : visible(value)}
        </span>
        <span className={`${classes.note} faint`} title={`${exact(count)} events`}>
          {short(count)}
        </span>
        <span className={classes.bar} style={{ width: `calc(${share} * (100% - 16px))` }} />
      </div>
    </Combobox.Option>
  );
}
