import { Group, Select, TagsInput } from "@mantine/core";
import { useState } from "react";
import type { Dashboard, Variable } from "../api/documents";
import type { Column, Table } from "../api/types";
import type { Zone } from "../base/zone";
import { useTableColumns } from "../explore/tableColumns";
import { type Frame, tablesOf, variableTarget } from "../query/dashboard";
import { splitValues, typeOf } from "../query/filter";
import { defaultQuery, PREVIOUS } from "../query/query";
import type { ResolvedQuery } from "../query/spec";
import { rangeOf, stepRange } from "../query/time";
import { VIEWS } from "../views/registry";
import { useColumnValues } from "../widgets/columns/useColumnValues";
import { FilterBar } from "../widgets/filter/FilterBar";
import { TimeRangeControl } from "../widgets/time/TimeRangeControl";
import classes from "./boards.module.css";

const COMPARISONS = [
  { value: "", label: "no comparison" },
  { value: PREVIOUS, label: "vs previous period" },
  { value: "1d", label: "vs previous day" },
  { value: "7d", label: "vs previous week" },
  { value: "28d", label: "vs previous 4 weeks" },
];

/** What all tiles share: the time, the comparison, the filters and the variables. */
export function FrameBar(props: {
  dashboard: Dashboard;
  frame: Frame;
  tables: readonly Table[];
  now: number;
  zone: Zone;
  onZone: (zone: Zone) => void;
  onChange: (frame: Frame) => void;
}) {
  const { dashboard, frame, tables, now, zone, onChange } = props;
  const { from, to, compare } = frame;
  const name = tablesOf(dashboard).find((it) => tables.some((table) => table.name === it));
  const table = tables.find((it) => it.name === name);
  const columns = useTableColumns(table);
  const query = { ...defaultQuery(name ?? ""), from, to, filters: frame.filters };
  const range = rangeOf(query, now, table) ?? { from: now - 86_400_000, to: now };
  const listed = COMPARISONS.some(({ value }) => value === compare);
  return (
    <Group gap="sm" align="flex-start">
      <TimeRangeControl
        from={from}
        to={to}
        now={now}
        zone={zone}
        {...(table ? { table } : {})}
        onChange={(next) => onChange({ ...frame, ...next })}
        onStep={(by) => {
          const next = stepRange(query, now, by);
          onChange({ ...frame, from: next.from, to: next.to });
        }}
        onZone={props.onZone}
      />
      <Select
        size="xs"
        w={160}
        aria-label="Compare with"
        data={listed ? COMPARISONS : [...COMPARISONS, { value: compare, label: `vs ${compare}` }]}
        value={compare}
        allowDeselect={false}
        onChange={(value) => onChange({ ...frame, compare: value ?? "" })}
      />
      {(dashboard.variables ?? []).map((variable) => (
        <VariableInput
          key={variable.name}
          dashboard={dashboard}
          variable={variable}
          tables={tables}
          range={range}
          value={frame.values[variable.name] ?? ""}
          onChange={(value) =>
            onChange({ ...frame, values: { ...frame.values, [variable.name]: value } })
          }
        />
      ))}
      {table && columns.data && (
        <div className={classes.filters}>
          <FilterBar
            resolved={{ query, columns: columns.data, range }}
            columns={columns.data}
            filters={frame.filters}
            onChange={(filters) => onChange({ ...frame, filters })}
          />
        </div>
      )}
    </Group>
  );
}

/** The values of a variable: typed, or picked from those that its column has. */
function VariableInput(props: {
  dashboard: Dashboard;
  variable: Variable;
  tables: readonly Table[];
  range: ResolvedQuery["range"];
  value: string;
  onChange: (value: string) => void;
}) {
  const { dashboard, variable, tables, range, value, onChange } = props;
  const target = variableTarget(dashboard, variable, VIEWS);
  const table = tables.find(({ name }) => name === target?.table);
  const columns = useTableColumns(table).data ?? [];
  const type = target ? typeOf(columns, target.column) : undefined;
  const input = { variable, value, onChange };
  if (!table || !target || !type) return <Values {...input} offered={[]} onSearch={() => {}} />;
  const resolved = { query: defaultQuery(table.name), columns, range };
  return <OfferedValues {...input} resolved={resolved} column={{ name: target.column, type }} />;
}

interface ValuesProps {
  variable: Variable;
  value: string;
  onChange: (value: string) => void;
}

function OfferedValues(
  props: ValuesProps & { resolved: ResolvedQuery; column: Pick<Column, "name" | "type"> },
) {
  const [part, setPart] = useState("");
  const { values } = useColumnValues(props.resolved, props.column, part);
  const offered = values.map(({ value }) => String(value));
  return <Values {...props} offered={offered} onSearch={setPart} />;
}

function Values(
  props: ValuesProps & { offered: readonly string[]; onSearch: (part: string) => void },
) {
  const { variable, value, onChange, offered, onSearch } = props;
  return (
    <TagsInput
      size="xs"
      miw={150}
      maw={320}
      aria-label={`Variable ${variable.name}`}
      placeholder={value === "" ? `any ${variable.name}` : ""}
      data={[...new Set(offered)]}
      value={value === "" ? [] : splitValues(value)}
      onSearchChange={onSearch}
      onChange={(values) => onChange(values.map((it) => it.replace(/[\\|]/g, "\\$&")).join("|"))}
    />
  );
}
