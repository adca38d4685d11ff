import { Button, ScrollArea, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import type { Column } from "../../api/types";
import { count, percent } from "../../base/format";
import type { Definition } from "../../query/definition";
import type { Filter } from "../../query/filter";
import type { Measure } from "../../query/measure";
import type { ResolvedQuery } from "../../query/spec";
import lines from "../widgets.module.css";
import { ColumnDetail } from "./ColumnDetail";
import classes from "./ColumnsTab.module.css";
import { findColumns, isGrouped, noteOf, sectionsOf } from "./columns";
import { DerivedColumns } from "./DerivedColumns";
import { TypeIcon } from "./TypeIcon";

/** Rows that are drawn at once; a button draws as many again. */
const PAGE = 200;

interface Props {
  resolved: ResolvedQuery;
  columns: readonly Column[];
  group: readonly string[];
  onGroup: (column: string) => void;
  onFilter: (filter: Filter) => void;
  onMeasure: (measure: Measure) => void;
  onDistribution: (column: string) => void;
  /** A column was defined; `before` is its name so far, or empty. */
  onDefine: (definition: Definition, before: string) => void;
  onUndefine: (name: string) => void;
}

/** The table's columns by type: what they hold, and what one can do with them. */
export function ColumnsTab(props: Props) {
  const { resolved, columns } = props;
  const [text, setText] = useState("");
  const [opened, setOpened] = useState<string | null>(null);
  const [most, setMost] = useState(PAGE);
  const matching = findColumns(columns, text);
  const sections = sectionsOf(matching, most);
  return (
    <div className={classes.tab}>
      <TextInput
        size="xs"
        id="columns-input"
        leftSection={<IconSearch size={14} />}
        placeholder={`Find one of ${count(columns.length)} columns`}
        aria-label="Find a column"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setMost(PAGE);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && text === "") event.currentTarget.blur();
          if (event.key === "Escape") setText("");
          const [first] = matching;
          if (event.key === "Enter" && first) setOpened(first.name);
        }}
      />
      <DerivedColumns resolved={resolved} onDefine={props.onDefine} onRemove={props.onUndefine} />
      <ScrollArea className={classes.list} type="auto" offsetScrollbars="present" scrollbarSize={8}>
        {sections.map(({ name, columns: members, all }) => (
          <section key={name} aria-label={name}>
            <h3 className={classes.section}>
              {name} <span className="numbers">{all}</span>
            </h3>
            {members.map((column) => (
              <ColumnRow
                key={column.name}
                {...props}
                resolved={resolved}
                column={column}
                opened={opened === column.name}
                onOpen={() => setOpened(opened === column.name ? null : column.name)}
              />
            ))}
          </section>
        ))}
        {matching.length > most && (
          <Button
            fullWidth
            mt="xs"
            size="compact-xs"
            variant="default"
            onClick={() => setMost(most + PAGE)}
          >
            Show more ({count(matching.length - most)} left)
          </Button>
        )}
        {matching.length === 0 && (
          <Text size="xs" c="dimmed" px={6}>
            {columns.length === 0 ? "No columns yet." : "No matching column."}
          </Text>
        )}
      </ScrollArea>
    </div>
  );
}

function ColumnRow(props: Props & { column: Column; opened: boolean; onOpen: () => void }) {
  const { column, group, opened, onOpen } = props;
  const grouped = isGrouped(group, column);
  const there = column.null_fraction === null ? null : 1 - column.null_fraction;
  const note = noteOf(column);
  const shared =
    there === null
      ? "rows with a value are not counted yet"
      : there === 1
        ? "every row has a value"
        : `${percent(there)} of rows have a value, ${percent(1 - there)} do not`;
  return (
    <>
      <button type="button" className={classes.row} aria-expanded={opened} onClick={onOpen}>
        <TypeIcon type={column.type} />
        <span
          className={`${lines.name} ${grouped ? classes.grouped : ""}`}
          title={`${column.name}: ${shared}`}
        >
          {column.name}
        </span>
        <span className={classes.share} role="img" aria-label={shared} title={shared}>
          <span style={{ width: there ? `${Math.max(there * 100, 3)}%` : 0 }} />
        </span>
        <span className={classes.distinct} title={note.title}>
          {note.text}
        </span>
      </button>
      {opened && (
        <div className={classes.detail}>
          <ColumnDetail {...props} grouped={grouped} />
        </div>
      )}
    </>
  );
}
