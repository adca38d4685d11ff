import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { IconArrowsSplit, IconCode } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useState } from "react";
import type { Column } from "../api/types";
import { columnOf, quoteName } from "../query/sql";
import { Chip } from "./Chip";
import { ColumnLine } from "./ColumnLine";
import { findColumns, groupable, isGrouped, namedColumn } from "./columns";
import { TypeIcon } from "./TypeIcon";
import classes from "./widgets.module.css";

const SHOWN = 100;
const OWN = "own";

/** What the answer is grouped by: columns, or expressions of SQL that somebody types. */
export function GroupPicker(props: {
  columns: Column[];
  group: readonly string[];
  onChange: (group: string[]) => void;
}) {
  const { columns, group, onChange } = props;
  const [text, setText] = useState("");
  const combobox = useCombobox();
  const remove = (expression: string) => onChange(group.filter((it) => it !== expression));
  const choose = (option: string) => {
    const expression = option === OWN ? text.trim() : option.slice(1);
    setText("");
    combobox.closeDropdown();
    if (!group.includes(expression)) onChange([...group, expression]);
  };
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const last = group.at(-1);
    if (event.key === "Backspace" && text === "" && last !== undefined) remove(last);
    if (event.key !== "Escape") return;
    if (text === "") event.currentTarget.blur();
    setText("");
  };
  return (
    <div style={{ display: "grid", gap: 6 }}>
      {group.length > 0 && (
        <div className={classes.chips}>
          {group.map((expression) => {
            const column = namedColumn(columns, expression);
            return (
              <Chip
                key={expression}
                title={columnOf(expression) ?? expression}
                icon={column ? <TypeIcon type={column.type} size={13} /> : <IconCode size={13} />}
                onRemove={() => remove(expression)}
              >
                {columnOf(expression) ?? expression}
              </Chip>
            );
          })}
        </div>
      )}
      <Combobox store={combobox} onOptionSubmit={choose} size="xs" offset={4} shadow="md">
        <Combobox.Target>
          <TextInput
            id="group-input"
            size="xs"
            leftSection={<IconArrowsSplit size={14} />}
            placeholder="Add a column, or SQL"
            aria-label="Group by"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              combobox.openDropdown();
            }}
            onFocus={() => combobox.openDropdown()}
            onClick={() => combobox.openDropdown()}
            onBlur={() => combobox.closeDropdown()}
            onKeyDown={keyDown}
          />
        </Combobox.Target>
        <Combobox.Dropdown>
          <Choices
            columns={groupable(columns.filter((column) => !isGrouped(group, column)))}
            text={text}
            onDrawn={combobox.selectFirstOption}
            onNone={combobox.resetSelectedOption}
          />
        </Combobox.Dropdown>
      </Combobox>
    </div>
  );
}

function Choices(props: {
  columns: Column[];
  text: string;
  onDrawn: () => void;
  onNone: () => void;
}) {
  const { columns, text, onDrawn, onNone } = props;
  const found = findColumns(columns, text);
  useEffect(() => {
    if (text === "") onNone();
    else onDrawn();
  }, [text, onDrawn, onNone]);
  return (
    <Combobox.Options mah={300} style={{ overflowY: "auto" }}>
      {found.slice(0, SHOWN).map((column) => (
        <Combobox.Option
          key={column.name}
          value={`:${quoteName(column.name)}`}
          className={classes.option ?? ""}
        >
          <ColumnLine column={column} marksMany />
        </Combobox.Option>
      ))}
      {found.length > SHOWN && (
        <div className={classes.hint}>{found.length - SHOWN} more: type a part of the name</div>
      )}
      {text.trim() !== "" && found.length === 0 && (
        <Combobox.Option value={OWN} className={classes.option ?? ""}>
          <span className="faint">SQL</span> <code>{text.trim()}</code>
        </Combobox.Option>
      )}
    </Combobox.Options>
  );
}
