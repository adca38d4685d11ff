import { Button, Group, Text } from "@mantine/core";
import type { MouseEvent } from "react";
import { numberOf } from "../../api/client";
import type { Cell, Column, ColumnValue } from "../../api/types";
import { exact, short, visible } from "../../base/format";
import { inUnit, unitOfColumn } from "../../base/units";
import { type Filter, filterOf } from "../../query/filter";
import { type Measure, measure } from "../../query/measure";
import type { ResolvedQuery } from "../../query/spec";
import lines from "../widgets.module.css";
import classes from "./ColumnsTab.module.css";
import { distinctOf } from "./columns";
import { UnitField } from "./UnitField";
import { useColumnValues } from "./useColumnValues";

/** Numbers with so few values are codes as often as amounts: their values are worth a look. */
const FEW_VALUES = 50;
const SHOWN_VALUES = 8;

interface Props {
  resolved: ResolvedQuery;
  column: Column;
  grouped: boolean;
  onGroup: (column: string) => void;
  onFilter: (filter: Filter) => void;
  onMeasure: (measure: Measure) => void;
  onDistribution: (column: string) => void;
}

/** A column's frequent values or percentiles, and actions on it. */
export function ColumnDetail(props: Props) {
  const { column } = props;
  const numeric = column.type === "number";
  const few = (distinctOf(column) ?? 0) <= FEW_VALUES;
  return (
    <>
      <Buttons {...props} />
      {numeric && <NumberFacts column={column} />}
      {numeric && <UnitField table={props.resolved.query.table} column={column} />}
      {column.type === "time" && <TimeFacts column={column} />}
      {(numeric ? few : column.type !== "time") && <TopValues {...props} />}
    </>
  );
}

function Buttons({ column, grouped, onGroup, onMeasure, onDistribution }: Props) {
  const { name, type } = column;
  const numeric = type === "number" || type === "bool";
  const buttons = [
    { label: grouped ? "Ungroup" : "Group by", run: () => onGroup(name) },
    ...(numeric ? [{ label: "Average", run: () => onMeasure(measure("avg", name)) }] : []),
    ...(type === "number"
      ? [
          { label: "p95", run: () => onMeasure(measure("p95", name)) },
          { label: "Distribution", run: () => onDistribution(name) },
        ]
      : [
          {
            label: "Distinct values",
            run: () => onMeasure(measure("approx_count_distinct", name)),
          },
        ]),
  ];
  return (
    <Group gap={4} my={4}>
      {buttons.map(({ label, run }) => (
        <Button
          key={label}
          size="compact-xs"
          variant="default"
          fw={500}
          fz={11}
          px={6}
          onClick={run}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

function NumberFacts({ column }: { column: Column }) {
  const facts: [string, Cell][] = [
    ["min", column.min],
    ["median", column.p50],
    ["p95", column.p95],
    ["max", column.max],
  ];
  return (
    <dl className={classes.facts}>
      {facts.map(([name, cell]) => {
        const number = numberOf(cell);
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={number === null ? "" : exact(String(cell))}>
              {number === null ? "–" : inUnit(number, unitOfColumn([column], column.name))}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function TimeFacts({ column }: { column: Column }) {
  const text = (cell: Cell) =>
    typeof cell === "string" ? cell.slice(0, 19).replace("T", " ") : "–";
  return (
    <Text size="xs" c="dimmed" className="numbers" my={4}>
      {text(column.min)} – {text(column.max)} UTC
    </Text>
  );
}

function TopValues({ resolved, column, onFilter }: Props) {
  const { values, enabled, pending, failed } = useColumnValues(resolved, column, "");
  const shown = values.slice(0, SHOWN_VALUES);
  if (shown.length === 0) {
    return (
      <Text size="xs" c="dimmed" my={4}>
        {wordsFor(enabled, pending, failed)}
      </Text>
    );
  }
  const largest = Math.max(...shown.map((it) => it.count), 1);
  return (
    <div>
      {shown.map((it) => (
        <TopValue
          key={String(it.value)}
          entry={it}
          share={it.count / largest}
          onPick={(event) => onFilter(filterOf(column.name, it.value, column.type, event.altKey))}
        />
      ))}
    </div>
  );
}

function wordsFor(enabled: boolean, pending: boolean, failed: boolean): string {
  if (!enabled) return "Nearly every row has a different value.";
  if (pending) return "Looking for values…";
  return failed ? "Too many values to list the frequent ones." : "No values.";
}

function TopValue(props: {
  entry: ColumnValue;
  share: number;
  onPick: (event: MouseEvent) => void;
}) {
  const { entry, share, onPick } = props;
  const value = String(entry.value);
  return (
    <button
      type="button"
      className={`${classes.pick} ${lines.value}`}
      title={`${value}\n${exact(entry.count)} events\nClick: only these. Alt-click: all but these.`}
      onClick={onPick}
    >
      <span className={lines.name}>
        {value === "" ? <span className={lines.empty}>(empty text)</span> : visible(value)}
      </span>
      <span className={`${lines.note} faint`}>{short(entry.count)}</span>
      <span className={lines.bar} style={{ width: `calc(${share} * (100% - 16px))` }} />
    </button>
  );
}
