import { UnstyledButton } from "@mantine/core";
import { IconArrowsSplit, IconCode } from "@tabler/icons-react";
import { useState } from "react";
import type { Column } from "../../api/types";
import { columnOf, groupLabel, quoteName } from "../../query/sql";
import { Chip } from "../Chip";
import { findColumns, groupable, isGrouped, namedColumn } from "../columns/columns";
import { TypeIcon } from "../columns/TypeIcon";
import classes from "../widgets.module.css";
import { numberSteps } from "./numberSteps";
import { ColumnOptions, PickInput, PickOption, SqlOption } from "./PickInput";

const CUSTOM = "custom";
const MOST_STEPS = 10;

/** What the answer is grouped by: columns, or expressions of SQL that somebody types. */
export function GroupPicker(props: {
  columns: readonly Column[];
  group: readonly string[];
  onChange: (group: string[]) => void;
}) {
  const { columns, group, onChange } = props;
  const [text, setText] = useState("");
  const free = groupable(columns.filter((column) => !isGrouped(group, column)));
  const matching = findColumns(free, text);
  // Steps of the columns that match; without a text they would be a second list.
  const steps =
    text.trim() === "" ? [] : matching.slice(0, MOST_STEPS).flatMap((it) => numberSteps(it) ?? []);
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
                title={expression}
                icon={column ? <TypeIcon type={column.type} size={13} /> : <IconCode size={13} />}
                onRemove={() => remove(expression)}
              >
                {groupLabel(expression)}
              </Chip>
            );
          })}
        </div>
      )}
      {columns
        .filter((column) => isGrouped(group, column))
        .map((column) => (
          <StepsOffer key={column.name} column={column} group={group} onChange={onChange} />
        ))}
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
        {steps.map(({ label, expression }) => (
          <PickOption key={label} value={`:${expression}`}>
            <TypeIcon type="number" /> {label}
          </PickOption>
        ))}
        {text.trim() !== "" && matching.length === 0 && <SqlOption value={CUSTOM} text={text} />}
      </PickInput>
    </div>
  );
}

/** Beneath a group of many numbers: the same column in round steps. */
function StepsOffer(props: {
  column: Column;
  group: readonly string[];
  onChange: (group: string[]) => void;
}) {
  const { column, group, onChange } = props;
  const steps = numberSteps(column);
  const at = group.findIndex((expression) => columnOf(expression) === column.name);
  if (!steps || at < 0) return null;
  return (
    <UnstyledButton
      fz="xs"
      className="link"
      onClick={() => onChange(group.with(at, steps.expression))}
    >
      Many values: use {steps.label}
    </UnstyledButton>
  );
}
