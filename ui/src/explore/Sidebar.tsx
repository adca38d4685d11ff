import { Group, Select, Stack, Switch, Tabs, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Table } from "../api/types";
import type { Zone } from "../base/zone";
import { toggleGroup, withFilter } from "../query/edit";
import { defaultQuery, LIMIT_MAX, type Query, SERIES_MAX } from "../query/query";
import { compareProblem } from "../query/spec";
import { stepRange } from "../query/time";
import { ColumnsTab } from "../widgets/columns/ColumnsTab";
import { FilterBar } from "../widgets/filter/FilterBar";
import { NumberField } from "../widgets/NumberField";
import { GroupPicker } from "../widgets/pickers/GroupPicker";
import { MeasurePicker } from "../widgets/pickers/MeasurePicker";
import { TablePicker } from "../widgets/pickers/TablePicker";
import { RetentionTab } from "../widgets/retention/RetentionTab";
import { NO_DRAFT } from "../widgets/retention/settingsDraft";
import { TimeRangeControl } from "../widgets/time/TimeRangeControl";
import { useExplore } from "./context";

/** Every knob of the query in sight, and in further tabs the table's columns and what it keeps. */
export function Sidebar(props: { tables: Table[]; onZone: (zone: Zone) => void }) {
  const { query, columns, table, zone, commit } = useExplore();
  const [draft, setDraft] = useState(NO_DRAFT);
  return (
    <Stack gap="sm" h="100%">
      <TablePicker
        tables={props.tables}
        value={query.table}
        onChange={(name) => commit(defaultQuery(name))}
      />
      <Tabs defaultValue="query" keepMounted={false} className="sidebar-tabs">
        <Tabs.List grow mb="sm">
          <Tabs.Tab value="query">Query</Tabs.Tab>
          <Tabs.Tab value="columns">Columns</Tabs.Tab>
          <Tabs.Tab value="retention">Retention</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="query">
          <QueryFields onZone={props.onZone} />
        </Tabs.Panel>
        <Tabs.Panel value="columns">
          <Columns />
        </Tabs.Panel>
        <Tabs.Panel value="retention">
          <RetentionTab
            table={table}
            columns={[...columns]}
            zone={zone}
            draft={draft}
            onDraft={setDraft}
          />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={4} component="section" aria-label={label}>
      <Text size="xs" fw={600} c="dimmed">
        {label}
      </Text>
      {children}
    </Stack>
  );
}

function QueryFields({ onZone }: { onZone: (zone: Zone) => void }) {
  const { query, resolved, columns, table, zone, now, commit } = useExplore();
  const set = (change: Partial<Query>) => commit({ ...query, ...change });
  return (
    <Stack gap="md">
      <Field label="Time">
        <TimeRangeControl
          from={query.from}
          to={query.to}
          now={now}
          zone={zone}
          table={table}
          onChange={(range) => set({ ...range, bucket: "auto" })}
          onStep={(by) => commit(stepRange(query, now, by))}
          onZone={onZone}
        />
        <Compare />
      </Field>
      <Field label="Filters">
        <FilterBar
          resolved={resolved}
          columns={[...columns]}
          filters={query.filters}
          onChange={(filters) => set({ filters })}
        />
      </Field>
      <Field label="Group by">
        <GroupPicker
          columns={[...columns]}
          group={query.group}
          onChange={(group) => set(grouped(query, group))}
        />
      </Field>
      <Field label="Measures">
        <MeasurePicker
          columns={[...columns]}
          measures={query.measures}
          onChange={(measures) => set(measured(query, measures))}
        />
      </Field>
      <More />
    </Stack>
  );
}

/** From the overview, grouping leads to the series of the groups. */
function grouped(query: Query, group: readonly string[]): Partial<Query> {
  const view = query.view === "overview" && group.length > 0 ? "time" : query.view;
  return { group, view };
}

/** From the overview, which shows one measure, a further one leads to all of them over time. */
function measured(query: Query, measures: readonly string[]): Partial<Query> {
  const more = measures.length > query.measures.length;
  return { measures, view: query.view === "overview" && more ? "time" : query.view };
}

function Compare() {
  const { query, resolved, commit } = useExplore();
  const problem = compareProblem(query, resolved.range);
  const choose = (compare: string) => commit({ ...query, compare });
  const kinds = [
    { value: "1d", label: "with the day before" },
    { value: "7d", label: "with the week before" },
    { value: "28d", label: "with 4 weeks before" },
  ];
  const other = { value: query.compare, label: `with ${query.compare} before` };
  const known = query.compare === "" || kinds.some(({ value }) => value === query.compare);
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Switch
          size="xs"
          label="Compare"
          checked={query.compare !== ""}
          onChange={(event) => choose(event.currentTarget.checked ? "7d" : "")}
        />
        {query.compare !== "" && (
          <Select
            size="xs"
            aria-label="Compare with"
            data={known ? kinds : [...kinds, other]}
            value={query.compare}
            allowDeselect={false}
            onChange={(value) => value && choose(value)}
          />
        )}
      </Group>
      {problem && (
        <Text size="xs" c="orange.8" role="note">
          {problem}
        </Text>
      )}
    </Stack>
  );
}

/** The knobs that are seldom turned. */
function More() {
  const { query, commit } = useExplore();
  const set = (change: Partial<Query>) => commit({ ...query, ...change });
  return (
    <Field label="More">
      <Group grow gap="xs">
        <NumberField
          label="Series"
          max={SERIES_MAX}
          value={query.series}
          onChange={(series) => set({ series })}
        />
        <NumberField
          label="Rows"
          max={LIMIT_MAX}
          value={query.limit}
          onChange={(limit) => set({ limit })}
        />
        <Select
          size="xs"
          label="Bucket"
          data={["auto", "1s", "10s", "1m", "5m", "15m", "1h", "6h", "1d", "7d"]}
          value={query.bucket}
          allowDeselect={false}
          onChange={(bucket) => bucket && set({ bucket })}
        />
      </Group>
      <TextInput
        key={query.where}
        size="xs"
        label="Where (SQL)"
        placeholder="status >= 500 OR length(message) > 80"
        defaultValue={query.where}
        onBlur={(event) =>
          event.currentTarget.value !== query.where && set({ where: event.currentTarget.value })
        }
        onKeyDown={(event) => event.key === "Enter" && set({ where: event.currentTarget.value })}
      />
    </Field>
  );
}

function Columns() {
  const { query, resolved, columns, commit } = useExplore();
  return (
    <ColumnsTab
      resolved={resolved}
      columns={[...columns]}
      group={query.group}
      onGroup={(column) => commit(toggleGroup(query, column))}
      onFilter={(filter) => commit(withFilter(query, filter))}
      onMeasure={(measure) => {
        const measures = [...query.measures.filter((it) => it !== measure), measure];
        commit({
          ...query,
          measures,
          view: query.view === "overview" ? "time" : query.view,
        });
      }}
      onDistribution={(of) => commit({ ...query, of, view: "distribution" })}
    />
  );
}
