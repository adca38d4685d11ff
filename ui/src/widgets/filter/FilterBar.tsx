import { Stack } from "@mantine/core";
import { useRef, useState } from "react";
import type { Column } from "../../api/types";
import { visible } from "../../base/format";
import {
  type Filter,
  filterLabel,
  filterText,
  inverted,
  OPERATORS,
  typeOf,
  valueWords,
} from "../../query/filter";
import type { ResolvedRows } from "../../query/spec";
import { Chip } from "../Chip";
import { TypeIcon } from "../columns/TypeIcon";
import classes from "../widgets.module.css";
import { FilterPopover } from "./FilterEditor";
import { FilterEntry } from "./FilterEntry";
import { draftOf } from "./filterDraft";

const SHOWN_VALUES = 4;

/**
 * The filters as chips, and an entry for more of them. A click on a chip edits it, an Alt-click
 * inverts it.
 */
export function FilterBar(props: {
  resolved: ResolvedRows;
  columns: readonly Column[];
  filters: readonly Filter[];
  onChange: (filters: Filter[]) => void;
}) {
  const { resolved, columns, filters, onChange } = props;
  const entry = useRef<HTMLInputElement>(null);
  const remove = (place: number) => onChange(filters.filter((_, at) => at !== place));
  const replace = (place: number, filter: Filter) =>
    onChange(filters.map((it, at) => (at === place ? filter : it)));
  const add = (filter: Filter) => {
    const text = filterText(filter);
    if (!filters.some((it) => filterText(it) === text)) onChange([...filters, filter]);
  };
  return (
    <Stack gap={6}>
      {filters.length > 0 && (
        <div className={classes.chips}>
          {filters.map((filter, place) => (
            <FilterChip
              // By its column, so that an edited chip stays the same one and keeps the focus.
              key={`${nthOf(filters, place)} ${filter.column}`}
              resolved={resolved}
              columns={columns}
              filter={filter}
              onChange={(changed) => replace(place, changed)}
              onRemove={(byKey) => {
                remove(place);
                if (byKey) entry.current?.focus({ preventScroll: true });
              }}
            />
          ))}
        </div>
      )}
      <FilterEntry
        ref={entry}
        resolved={resolved}
        columns={columns}
        onAdd={add}
        onRemoveLast={() => filters.length > 0 && remove(filters.length - 1)}
      />
    </Stack>
  );
}

/** How many filters on the same column stand before the one at a place. */
function nthOf(filters: readonly Filter[], place: number): number {
  const column = filters[place]?.column;
  return filters.slice(0, place).filter((it) => it.column === column).length;
}

function FilterChip(props: {
  resolved: ResolvedRows;
  columns: readonly Column[];
  filter: Filter;
  onChange: (filter: Filter) => void;
  onRemove: (byKey: boolean) => void;
}) {
  const { resolved, columns, filter, onChange, onRemove } = props;
  const [opened, setOpened] = useState(false);
  const type = typeOf(columns, filter.column) ?? "string";
  const column = columns.find((it) => it.name === filter.column) ?? { name: filter.column, type };
  return (
    <FilterPopover
      opened={opened}
      resolved={resolved}
      column={column}
      initial={draftOf(filter)}
      onCommit={(changed) => {
        setOpened(false);
        onChange(changed);
      }}
      onCancel={() => setOpened(false)}
    >
      <Chip
        title={filterLabel(filter)}
        tone={toneOf(filter)}
        opened={opened}
        icon={<TypeIcon type={type} size={13} />}
        onClick={(event) => {
          if (event.altKey) onChange(inverted(filter));
          else setOpened(!opened);
        }}
        onRemove={onRemove}
      >
        <FilterWords filter={filter} />
      </Chip>
    </FilterPopover>
  );
}

function toneOf({ operator }: Filter): "plain" | "negated" | "missing" {
  if (operator === "null" || operator === "empty") return "missing";
  return operator.startsWith("!") && operator !== "!null" ? "negated" : "plain";
}

function FilterWords({ filter }: { filter: Filter }) {
  const { column, operator } = filter;
  const values = valueWords(filter);
  const shown = values.slice(0, SHOWN_VALUES).map(visible);
  const more = values.length - shown.length;
  return (
    <>
      {column} <span className="faint">{OPERATORS[operator].label}</span> <b>{shown.join(", ")}</b>
      {more > 0 && <span className="faint"> +{more}</span>}
    </>
  );
}
