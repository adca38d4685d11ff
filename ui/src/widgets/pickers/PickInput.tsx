import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, type Ref, type RefObject, useEffect } from "react";
import type { Column } from "../../api/types";
import { ColumnLine } from "../columns/ColumnLine";
import classes from "../widgets.module.css";

/**
 * A field whose text finds what can be picked. As soon as something is typed, Enter takes the first
 * option; Esc clears the field and then leaves it, Backspace in the empty field takes back.
 */
export function PickInput(props: {
  id: string;
  label: string;
  placeholder: string;
  icon: ReactNode;
  text: string;
  onText: (text: string) => void;
  /** Takes an option by its value; true keeps the options open for a further one. */
  onPick: (option: string) => boolean;
  onTakeBack: () => void;
  onClose?: () => void;
  /** Whether Enter takes the first option although nothing is typed. */
  eager?: boolean;
  /** Holds true while a focus is no wish for options. */
  quiet?: RefObject<boolean>;
  ref?: Ref<HTMLInputElement> | undefined;
  /** The options. */
  children: ReactNode;
}) {
  const { text, onText, onPick, onTakeBack, onClose, eager = false, quiet } = props;
  const combobox = useCombobox(onClose ? { onDropdownClose: onClose } : {});
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Backspace" && text === "") onTakeBack();
    if (event.key !== "Escape") return;
    if (text === "") event.currentTarget.blur();
    onText("");
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(option) => {
        onText("");
        if (!onPick(option)) combobox.closeDropdown();
      }}
      size="xs"
      offset={4}
      shadow="md"
    >
      <Combobox.Target>
        <TextInput
          {...(props.ref ? { ref: props.ref } : {})}
          id={props.id}
          size="xs"
          leftSection={props.icon}
          placeholder={props.placeholder}
          aria-label={props.label}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            onText(event.currentTarget.value);
            combobox.openDropdown();
          }}
          onFocus={() => {
            if (!quiet?.current) combobox.openDropdown();
            if (quiet) quiet.current = false;
          }}
          onClick={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          onKeyDown={keyDown}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Options
          text={text}
          eager={eager}
          onDrawn={combobox.selectFirstOption}
          onNone={combobox.resetSelectedOption}
        >
          {props.children}
        </Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** The options; Enter takes the first. A component of its own, so that an effect runs after drawing. */
function Options(props: {
  text: string;
  eager: boolean;
  onDrawn: () => void;
  onNone: () => void;
  children: ReactNode;
}) {
  const { text, eager, onDrawn, onNone } = props;
  // Also when the text only becomes another one: its first option is not the one before.
  useEffect(() => {
    if (text === "" && !eager) onNone();
    else onDrawn();
  }, [text, eager, onDrawn, onNone]);
  return (
    <Combobox.Options mah={320} style={{ overflowY: "auto" }}>
      {props.children}
    </Combobox.Options>
  );
}

/** What can be picked. */
export function PickOption(props: { value: string; faint?: boolean; children: ReactNode }) {
  const faint = props.faint ? " faint" : "";
  return (
    <Combobox.Option value={props.value} className={`${classes.option}${faint}`}>
      {props.children}
    </Combobox.Option>
  );
}

/** The option that is the typed text itself, as SQL. */
export function SqlOption({ value, text }: { value: string; text: string }) {
  return (
    <PickOption value={value}>
      <span className="faint">SQL</span> <code>{text.trim()}</code>
    </PickOption>
  );
}

/** More than anyone reads; typing finds the rest. */
export const SHOWN = 100;

/** Columns to pick from, each with what it is picked by. */
export function ColumnOptions(props: {
  columns: readonly Column[];
  pickedBy: (column: Column) => string;
  /** Whether columns of more values than groups make sense of are marked. */
  marksMany?: boolean;
}) {
  const { columns, pickedBy, marksMany = false } = props;
  const more = columns.length - SHOWN;
  return (
    <>
      {columns.slice(0, SHOWN).map((column) => (
        <PickOption key={column.name} value={pickedBy(column)}>
          <ColumnLine column={column} marksMany={marksMany} />
        </PickOption>
      ))}
      {more > 0 && <div className={classes.hint}>{more} more: type a part of the name</div>}
    </>
  );
}
