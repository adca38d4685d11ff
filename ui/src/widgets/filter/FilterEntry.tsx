import { Combobox } from "@mantine/core";
import { IconFilterPlus } from "@tabler/icons-react";
import { type Ref, useRef, useState } from "react";
import { serverNow } from "../../api/client";
import type { Column } from "../../api/types";
import { type Filter, filterLabel } from "../../query/filter";
import type { ResolvedRows } from "../../query/spec";
import { findColumns } from "../columns/columns";
import { ColumnOptions, PickInput, PickOption } from "../pickers/PickInput";
import { FilterPopover } from "./FilterEditor";
import { newDraft } from "./filterDraft";
import { quickFilter } from "./quickFilter";

const QUICK = "quick";

/** Where a new filter begins: a column is found by its name, or `status>=500` is typed in one go. */
export function FilterEntry(props: {
  resolved: ResolvedRows;
  columns: readonly Column[];
  onAdd: (filter: Filter) => void;
  onRemoveLast: () => void;
  ref?: Ref<HTMLInputElement>;
}) {
  const { resolved, columns, onAdd, onRemoveLast, ref } = props;
  const [text, setText] = useState("");
  const [column, setColumn] = useState<Column | null>(null);
  // A filter that is done gives the focus back, but is no wish for the next one.
  const quiet = useRef(false);
  const done = () => {
    setColumn(null);
    setText("");
    quiet.current = true;
  };
  const quick = quickFilter(text, columns, serverNow());
  const matching = quick ? [] : findColumns(columns, text);
  const pick = (option: string) => {
    if (option === QUICK && quick) onAdd(quick);
    else setColumn(columns.find((it) => it.name === option.slice(1)) ?? null);
    return false;
  };
  return (
    <FilterPopover
      opened={column !== null}
      resolved={resolved}
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
        <PickInput
          ref={ref}
          id="filter-input"
          label="Add a filter"
          placeholder={column?.name ?? "Add a filter, or type status>=500"}
          icon={<IconFilterPlus size={14} />}
          text={text}
          onText={setText}
          onPick={pick}
          onTakeBack={onRemoveLast}
          quiet={quiet}
        >
          {quick && <PickOption value={QUICK}>{filterLabel(quick)}</PickOption>}
          <ColumnOptions columns={matching} pickedBy={(it) => `:${it.name}`} />
          {matching.length === 0 && !quick && (
            <Combobox.Empty fz={12}>{emptyWords(text)}</Combobox.Empty>
          )}
        </PickInput>
      </div>
    </FilterPopover>
  );
}

const emptyWords = (text: string) =>
  /[=<>~]/.test(text)
    ? "No filter yet: a column, a sign that fits it, a value"
    : "No matching column";
