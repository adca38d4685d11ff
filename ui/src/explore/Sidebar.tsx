import { Group, Select, Stack, Switch, Tabs, Text, TextInput } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Table } from "../api/types";
import { durationMs } from "../base/duration";
import type { Zone } from "../base/zone";
import { renamed, withDefinition, withoutDefinition } from "../query/definition";
import { toggleGroup, withFilter } from "../query/edit";
import {
  DEFAULT_VIEW,
  defaultQuery,
  LIMIT_MAX,
  PREVIOUS,
  type Query,
  SERIES_MAX,
} from "../query/query";
import { compareProblem } from "../query/spec";
import { stepRange } from "../query/time";
import {
  type SharedPart,
  type ViewManifest,
  viewOfColumn,
  viewShowing,
} from "../query/viewManifest";
import { ColumnsTab } from "../widgets/columns/ColumnsTab";
import { FilterBar } from "../widgets/filter/FilterBar";
import { NumberField } from "../widgets/NumberField";
import { GroupPicker } from "../widgets/pickers/GroupPicker";
import { MeasurePicker } from "../widgets/pickers/MeasurePicker";
import { TablePicker } from "../widgets/pickers/TablePicker";
import { NO_DRAFT } from "../widgets/retention/settingsDraft";
import { TimeRangeControl } from "../widgets/time/TimeRangeControl";
import { useExplore } from "./context";

const RetentionTab = lazy(() => import("../widgets/retention/RetentionTab"));

/** All fields of the query; in further tabs the table's columns and its retention. */
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
          <Suspense>
            <RetentionTab
              table={table}
              columns={[...columns]}
              zone={zone}
              draft={draft}
              onDraft={setDraft}
            />
          </Suspense>
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
  const { query, resolved, columns, table, zone, now, views, commit } = useExplore();
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
          onChange={(group) => {
            const next = { ...query, group };
            commit(group.length > 0 ? leaveOverview(next, views, "groups") : next);
          }}
        />
      </Field>
      <Field label="Measures">
        <MeasurePicker
          columns={[...columns]}
          measures={query.measures}
          onChange={(measures) => {
            const next = { ...query, measures };
            const more = measures.length > query.measures.length;
            commit(more ? leaveOverview(next, views, "measures") : next);
          }}
        />
      </Field>
      <More />
    </Stack>
  );
}

/** The overview draws no groups and one measure: a query with more leads to a view that does. */
function leaveOverview(query: Query, views: readonly ViewManifest[], part: SharedPart): Query {
  return query.view.kind === DEFAULT_VIEW ? viewShowing(query, views, part) : query;
}

const KINDS = [
  { value: PREVIOUS, label: "vs previous period" },
  { value: "1d", label: "vs previous day" },
  { value: "7d", label: "vs previous week" },
  { value: "28d", label: "vs previous 4 weeks" },
];
const CUSTOM = "custom";

function Compare() {
  const { query, resolved, views, commit } = useExplore();
  const view = views.find(({ kind }) => kind === query.view.kind);
  const compares = view?.shows.includes("comparison") === true;
  const problem = compares ? compareProblem(resolved) : null;
  const choose = (compare: string) => commit({ ...query, compare });
  const [writes, setWrites] = useState(false);
  const other = { value: query.compare, label: `vs ${query.compare} before` };
  const isListed = query.compare === "" || KINDS.some(({ value }) => value === query.compare);
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Switch
          size="xs"
          label="Compare"
          checked={query.compare !== ""}
          onChange={(event) => choose(event.currentTarget.checked ? PREVIOUS : "")}
        />
        {query.compare !== "" && (
          <Select
            size="xs"
            aria-label="Compare with"
            data={[...KINDS, ...(isListed ? [] : [other]), { value: CUSTOM, label: "vs custom…" }]}
            value={writes ? CUSTOM : query.compare}
            allowDeselect={false}
            onChange={(value) => {
              setWrites(value === CUSTOM);
              if (value && value !== CUSTOM) choose(value);
            }}
          />
        )}
      </Group>
      {query.compare !== "" && writes && (
        <EarlierBy
          onDone={(length) => {
            setWrites(false);
            choose(length);
          }}
        />
      )}
      {problem && (
        <Text size="xs" c="var(--warn)" role="note">
          {problem}
        </Text>
      )}
    </Stack>
  );
}

/** A length of time that is typed, by which the compared range is earlier. */
function EarlierBy({ onDone }: { onDone: (length: string) => void }) {
  const [text, setText] = useState("");
  const length = text.trim().replace(/\s+/g, "");
  const isLength = (durationMs(length) ?? 0) > 0;
  return (
    <TextInput
      size="xs"
      autoFocus
      aria-label="Compare with how much earlier"
      placeholder="2h, 3d, 1w, then Enter"
      value={text}
      error={text !== "" && !isLength && "A length of time such as 2h or 3d"}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => event.key === "Enter" && isLength && onDone(length)}
    />
  );
}

/** Fields that change seldom. */
function More() {
  const { query, commit } = useExplore();
  const set = (change: Partial<Query>) => commit({ ...query, ...change });
  return (
    <Field label="More">
      <Group grow gap="xs">
        <NumberField
          label="Top N"
          max={SERIES_MAX}
          value={query.series}
          onChange={(series) => set({ series })}
        />
        <NumberField
          label="Limit"
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
        label="SQL filter"
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
  const { query, resolved, columns, views, commit } = useExplore();
  const distribution = views.find(({ kind }) => kind === "distribution");
  return (
    <ColumnsTab
      resolved={resolved}
      columns={[...columns]}
      group={query.group}
      onGroup={(column) => commit(toggleGroup(query, column, views))}
      onFilter={(filter) => commit(withFilter(query, filter))}
      onMeasure={(measure) => {
        const measures = [...query.measures.filter((it) => it !== measure), measure];
        commit(leaveOverview({ ...query, measures }, views, "measures"));
      }}
      onDefine={(definition, before) =>
        commit(withDefinition(renamed(query, before, definition.name), definition))
      }
      onUndefine={(name) => commit(withoutDefinition(query, name))}
      onDistribution={(column) => distribution && commit(viewOfColumn(query, distribution, column))}
    />
  );
}
