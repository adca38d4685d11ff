import { Combobox, Group, InputBase, Text, useCombobox, VisuallyHidden } from "@mantine/core";
import { IconTable } from "@tabler/icons-react";
import { memo, useEffect, useState } from "react";
import { serverNow } from "../../api/client";
import type { Table } from "../../api/types";
import { counted, short } from "../../base/format";
import { ageWords } from "../time/timeWords";
import classes from "../widgets.module.css";
import { ProblemMark } from "./ProblemMark";
import { type TableProblems, useTableProblems } from "./tableProblems";

const SHOWN = 200;

/** The table that is asked, and all others, found by a part of their name. */
export const TablePicker = memo(function TablePicker(props: {
  tables: Table[];
  value: string;
  onChange: (name: string) => void;
}) {
  const { tables, value, onChange } = props;
  const [text, setText] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setText("");
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  const problems = useTableProblems(tables);
  const current = tables.find((table) => table.name === value);
  return (
    <Combobox
      store={combobox}
      size="xs"
      offset={4}
      shadow="md"
      returnFocus
      onOptionSubmit={(name) => {
        combobox.closeDropdown();
        if (name !== value) onChange(name);
      }}
    >
      <Combobox.Target targetType="button">
        <InputBase
          component="button"
          type="button"
          size="sm"
          pointer
          id="table-input"
          leftSection={<IconTable size={15} stroke={1.6} />}
          rightSection={<Combobox.Chevron />}
          rightSectionPointerEvents="none"
          onClick={() => combobox.toggleDropdown()}
        >
          <Group gap={8} wrap="nowrap">
            {value !== "" && <VisuallyHidden>Table: </VisuallyHidden>}
            <Text span fz="sm" fw={600} className={classes.name} title={value}>
              {value || "Another table"}
            </Text>
            {current && <TableSummary table={current} problems={problems.get(value)} />}
          </Group>
        </InputBase>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          size="xs"
          placeholder="Find a table"
          aria-label="Find a table"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Choices
          tables={tables}
          problems={problems}
          text={text}
          value={value}
          onDrawn={combobox.selectFirstOption}
        />
      </Combobox.Dropdown>
    </Combobox>
  );
});

function Choices(props: {
  tables: Table[];
  problems: ReadonlyMap<string, TableProblems>;
  text: string;
  value: string;
  onDrawn: () => void;
}) {
  const { tables, problems, text, value, onDrawn } = props;
  const wanted = text.trim().toLowerCase();
  const matching = systemLast(tables).filter(({ name }) => name.toLowerCase().includes(wanted));
  useEffect(() => {
    if (wanted !== "") onDrawn();
  }, [wanted, onDrawn]);
  return (
    <Combobox.Options mah={320} style={{ overflowY: "auto" }}>
      {matching.slice(0, SHOWN).map((table) => (
        <Combobox.Option
          key={table.name}
          value={table.name}
          active={table.name === value}
          className={classes.option ?? ""}
        >
          <Group gap={8} wrap="nowrap" c={isSystem(table) ? "dimmed" : undefined}>
            <Text
              span
              fz={13}
              fw={table.name === value ? 600 : 400}
              className={classes.name}
              title={table.name}
            >
              {table.name}
            </Text>
            <TableSummary table={table} problems={problems.get(table.name)} />
          </Group>
        </Combobox.Option>
      ))}
      {matching.length === 0 && <Combobox.Empty fz={12}>No matching table</Combobox.Empty>}
      {matching.length > SHOWN && (
        <div className={classes.hint}>{matching.length - SHOWN} more: type a part of the name</div>
      )}
    </Combobox.Options>
  );
}

function TableSummary(props: { table: Table; problems: TableProblems | undefined }) {
  const { table, problems } = props;
  const age = ageWords(table.last_time, serverNow());
  return (
    <Text span fz={11} c="dimmed" className={classes.note} title={counted(table.rows, "row")}>
      {problems && <ProblemMark problems={problems} />}
      {short(table.rows)} ·{" "}
      <Text span inherit c={age === "live" ? "var(--good)" : "dimmed"}>
        {age}
      </Text>
    </Text>
  );
}

const isSystem = (table: Table) => table.name.startsWith("_");

/** The tables that the server keeps about itself come after those of its users. */
function systemLast(tables: readonly Table[]): Table[] {
  return tables.toSorted((a, b) => Number(isSystem(a)) - Number(isSystem(b)));
}
