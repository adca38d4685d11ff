import { IconArrowsSplit, IconCode } from "@tabler/icons-react";
import { useState } from "react";
import type { Column } from "../../api/types";
import { columnOf, quoteName } from "../../query/sql";
import { Chip } from "../Chip";
import { findColumns, groupable, isGrouped, namedColumn } from "../columns/columns";
import { TypeIcon } from "../columns/TypeIcon";
import classes from "../widgets.module.css";
import { ColumnOptions, PickInput, SqlOption } from "./PickInput";

const CUSTOM = "custom";

/** What the answer is grouped by: columns, or expressions of SQL that somebody types. */
export function GroupPicker(props: {
  columns: Column[];
  group: readonly string[];
  onChange: (group: string[]) => void;
}) {
  const { columns, group, onChange } = props;
  const [text, setText] = useState("");
  const free = groupable(columns.filter((column) => !isGrouped(group, column)));
  const matching = findColumns(free, text);
  const remove = (expression: string) => onChange(group.filter((it) => it !== expression));
  const pick = (option: string) => {
    const expression = option === CUSTOM ? text.trim() : option.slice(1);
    if (!group.includes(expression)) onChange([...group, expression]);
    return false;
  };
  return (
    <div className={classes.picker}>
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
      <PickInput
        id="group-input"
        label="Group by"
        placeholder="Add a column, or SQL"
        icon={<IconArrowsSplit size={14} />}
        text={text}
        onText={setText}
        onPick={pick}
        onTakeBack={() => onChange(group.slice(0, -1))}
      >
        <ColumnOptions columns={matching} pickedBy={(it) => `:${quoteName(it.name)}`} marksMany />
        {text.trim() !== "" && matching.length === 0 && <SqlOption value={CUSTOM} text={text} />}
      </PickInput>
    </div>
  );
}
