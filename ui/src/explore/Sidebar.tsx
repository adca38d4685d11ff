import { Group, Select, Stack, Switch, Tabs, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Table } from "../api/types";
import type { Zone } from "../base/zone";
import { toggleGroup, withFilter } from "../query/edit";
import { LIMIT_MAX, opening, type Question, SERIES_MAX } from "../query/query";
import { compareProblem } from "../query/spec";
import { stepped } from "../query/time";
import { ColumnsTab } from "../widgets/columns/ColumnsTab";
import { FilterBar } from "../widgets/filter/FilterBar";
import { NumberKnob } from "../widgets/NumberField";
import { GroupPicker } from "../widgets/pickers/GroupPicker";
import { MeasurePicker } from "../widgets/pickers/MeasurePicker";
import { TablePicker } from "../widgets/pickers/TablePicker";
import { KeepingTab } from "../widgets/retention/RetentionTab";
import { NO_DRAFT } from "../widgets/retention/settingsDraft";
import { TimeRangeControl } from "../widgets/time/TimeRangeControl";
import { useDive } from "./context";

/** Every knob of the question in sight, and in further tabs the table's columns and what it keeps. */
export function Rail(props: { tables: Table[]; onZone: (zone: Zone) => void }) {
  const { question, columns, table, zone, commit } = useDive();
  const [draft, setDraft] = useState(NO_DRAFT);
  return (
    <Stack gap="sm" h="100%">
      <TablePicker
        tables={props.tables}
        value={question.table}
        onChange={(name) => commit(opening(name))}
      />
      <Tabs defaultValue="question" keepMounted={false} className="rail-tabs">
        <Tabs.List grow mb="sm">
          <Tabs.Tab value="question">Question</Tabs.Tab>
          <Tabs.Tab value="columns">Columns</Tabs.Tab>
          <Tabs.Tab value="keeping">Keeping</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="question">
          <Knobs onZone={props.onZone} />
        </Tabs.Panel>
        <Tabs.Panel value="columns">
          <Columns />
        </Tabs.Panel>
        <Tabs.Panel value="keeping">
          <KeepingTab
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

function Knob({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={4} component="section" aria-label={label}>
      <Text size="xs" fw={600} c="dimmed">
        {label}
      </Text>
      {children}
    </Stack>
  );
}

function Knobs({ onZone }: { onZone: (zone: Zone) => void }) {
  const { question, asked, columns, table, zone, now, commit } = useDive();
  const set = (change: Partial<Question>) => commit({ ...question, ...change });
  return (
    <Stack gap="md">
      <Knob label="Time">
        <TimeRangeControl
          from={question.from}
          to={question.to}
          now={now}
          zone={zone}
          table={table}
          onChange={(range) => set({ ...range, bucket: "auto" })}
          onStep={(by) => commit(stepped(question, now, by))}
          onZone={onZone}
        />
        <Compare />
      </Knob>
      <Knob label="Filter">
        <FilterBar
          asked={asked}
          columns={[...columns]}
          filters={question.filters}
          onChange={(filters) => set({ filters })}
        />
      </Knob>
      <Knob label="Group by">
        <GroupPicker
          columns={[...columns]}
          group={question.group}
          onChange={(group) => set(grouped(question, group))}
        />
      </Knob>
      <Knob label="Show">
        <MeasurePicker
          columns={[...columns]}
          measures={question.measures}
          onChange={(measures) => set(measured(question, measures))}
        />
      </Knob>
      <More />
    </Stack>
  );
}

/** From the overview, grouping leads to the series of the groups. */
function grouped(question: Question, group: readonly string[]): Partial<Question> {
  const view = question.view === "overview" && group.length > 0 ? "time" : question.view;
  return { group, view };
}

/** From the overview, which shows one measure, a further one leads to all of them over time. */
function measured(question: Question, measures: readonly string[]): Partial<Question> {
  const more = measures.length > question.measures.length;
  return { measures, view: question.view === "overview" && more ? "time" : question.view };
}

function Compare() {
  const { question, asked, commit } = useDive();
  const problem = compareProblem(question, asked.range);
  const choose = (compare: string) => commit({ ...question, compare });
  const kinds = [
    { value: "1d", label: "with the day before" },
    { value: "7d", label: "with the week before" },
    { value: "28d", label: "with 4 weeks before" },
  ];
  const other = { value: question.compare, label: `with ${question.compare} before` };
  const known = question.compare === "" || kinds.some(({ value }) => value === question.compare);
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Switch
          size="xs"
          label="Compare"
          checked={question.compare !== ""}
          onChange={(event) => choose(event.currentTarget.checked ? "7d" : "")}
        />
        {question.compare !== "" && (
          <Select
            size="xs"
            aria-label="Compare with"
            data={known ? kinds : [...kinds, other]}
            value={question.compare}
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
  const { question, commit } = useDive();
  const set = (change: Partial<Question>) => commit({ ...question, ...change });
  return (
    <Knob label="More">
      <Group grow gap="xs">
        <NumberKnob
          label="Series"
          max={SERIES_MAX}
          value={question.series}
          onChange={(series) => set({ series })}
        />
        <NumberKnob
          label="Rows"
          max={LIMIT_MAX}
          value={question.limit}
          onChange={(limit) => set({ limit })}
        />
        <Select
          size="xs"
          label="Bucket"
          data={["auto", "1s", "10s", "1m", "5m", "15m", "1h", "6h", "1d", "7d"]}
          value={question.bucket}
          allowDeselect={false}
          onChange={(bucket) => bucket && set({ bucket })}
        />
      </Group>
      <TextInput
        key={question.where}
        size="xs"
        label="Own condition (SQL)"
        placeholder="status >= 500 OR length(message) > 80"
        defaultValue={question.where}
        onBlur={(event) =>
          event.currentTarget.value !== question.where && set({ where: event.currentTarget.value })
        }
        onKeyDown={(event) => event.key === "Enter" && set({ where: event.currentTarget.value })}
      />
    </Knob>
  );
}

function Columns() {
  const { question, asked, columns, commit } = useDive();
  return (
    <ColumnsTab
      asked={asked}
      columns={[...columns]}
      group={question.group}
      onGroup={(column) => commit(toggleGroup(question, column))}
      onFilter={(filter) => commit(withFilter(question, filter))}
      onMeasure={(measure) => {
        const measures = [...question.measures.filter((it) => it !== measure), measure];
        commit({
          ...question,
          measures,
          view: question.view === "overview" ? "time" : question.view,
        });
      }}
      onDistribution={(of) => commit({ ...question, of, view: "distribution" })}
    />
  );
}
