import { Combobox, Text, TextInput, useCombobox } from "@mantine/core";
import { IconFilterPlus } from "@tabler/icons-react";
import {
  type KeyboardEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { serverNow } from "../api/client";
import type { Column } from "../api/types";
import { type Filter, filterLabel } from "../query/filter";
import type { Asked } from "../query/spec";
import { ColumnLine } from "./ColumnLine";
import { findColumns } from "./columns";
import { FilterPopover } from "./FilterEditor";
import { newDraft } from "./filterDraft";
import { quickFilter } from "./quickFilter";
import classes from "./widgets.module.css";

/** More than anyone reads; typing finds the rest. */
const SHOWN = 100;
const QUICK = "quick";

/** Where a new filter begins: a column is found by its name, or `status>=500` is typed in one go. */
export function FilterEntry(props: {
  asked: Asked;
  columns: readonly Column[];
  onAdd: (filter: Filter) => void;
  onRemoveLast: () => void;
  ref?: Ref<HTMLInputElement>;
}) {
  const { asked, columns, onAdd, onRemoveLast, ref } = props;
  const [text, setText] = useState("");
  const [column, setColumn] = useState<Column | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => input.current as HTMLInputElement);
  // A filter that is done gives the focus back, but is no wish for the next one.
  const quiet = useRef(false);
  const combobox = useCombobox();
  const done = () => {
    setColumn(null);
    setText("");
    quiet.current = true;
  };
  const quick = quickFilter(text, columns, serverNow());
  const choose = (option: string) => {
    combobox.closeDropdown();
    if (option === QUICK && quick) {
      onAdd(quick);
      setText("");
    } else setColumn(columns.find((it) => it.name === option.slice(1)) ?? null);
  };
  const open = () => {
    if (!quiet.current) combobox.openDropdown();
    quiet.current = false;
  };
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Backspace" && text === "") onRemoveLast();
    if (event.key !== "Escape") return;
    if (text === "") event.currentTarget.blur();
    setText("");
  };
  return (
    <FilterPopover
      opened={column !== null}
      asked={asked}
      column={column ?? { name: "", type: "string" }}
      initial={newDraft(column?.type ?? "string")}
      onCommit={(filter) => {
        onAdd(filter);
        done();
      }}
      onCancel={done}
      onBack={done}
    >
      <div>
        <Combobox store={combobox} onOptionSubmit={choose} size="xs" offset={4} shadow="md">
          <Combobox.Target>
            <TextInput
              ref={input}
              id="filter-input"
              size="xs"
              leftSection={<IconFilterPlus size={14} />}
              placeholder={column?.name ?? "Add a filter, or type status>=500"}
              aria-label="Add a filter"
              spellCheck={false}
              value={text}
              onChange={(event) => {
                setText(event.currentTarget.value);
                combobox.openDropdown();
              }}
              onFocus={open}
              onClick={() => combobox.openDropdown()}
              onBlur={() => combobox.closeDropdown()}
              onKeyDown={keyDown}
            />
          </Combobox.Target>
          <Combobox.Dropdown>
            <ColumnChoices
              columns={columns}
              text={text}
              quick={quick}
              onDrawn={combobox.selectFirstOption}
              onNone={combobox.resetSelectedOption}
            />
          </Combobox.Dropdown>
        </Combobox>
      </div>
    </FilterPopover>
  );
}

function ColumnChoices(props: {
  columns: readonly Column[];
  text: string;
  quick: Filter | null;
  onDrawn: () => void;
  onNone: () => void;
}) {
  const { columns, text, quick, onDrawn, onNone } = props;
  const found = quick ? [] : findColumns(columns, text);
  useEffect(() => {
    if (text === "") onNone();
    else onDrawn();
  }, [text, onDrawn, onNone]);
  return (
    <Combobox.Options mah={300} style={{ overflowY: "auto" }}>
      {quick && (
        <Combobox.Option value={QUICK} className={classes.option ?? ""}>
          <Text span fz={12}>
            {filterLabel(quick)}
          </Text>
        </Combobox.Option>
      )}
      {found.slice(0, SHOWN).map((column) => (
        <Combobox.Option
          key={column.name}
          value={`:${column.name}`}
          className={classes.option ?? ""}
        >
          <ColumnLine column={column} />
        </Combobox.Option>
      ))}
      {found.length > SHOWN && (
        <div className={classes.hint}>{found.length - SHOWN} more: type a part of the name</div>
      )}
      {found.length === 0 && !quick && <Combobox.Empty fz={12}>{emptyWords(text)}</Combobox.Empty>}
    </Combobox.Options>
  );
}

const emptyWords = (text: string) =>
  /[=<>~]/.test(text)
    ? "No filter yet: a column, a sign that fits it, a value"
    : "No column has this in its name";
