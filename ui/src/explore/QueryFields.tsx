import { Group, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { memo, type ReactNode, useState } from "react";
import type { Column, Table } from "../api/types";
import { durationMs } from "../base/duration";
import type { Zone } from "../base/zone";
import type { Filter } from "../query/filter";
import type { Measure } from "../query/measure";
import { DEFAULT_VIEW, LIMIT_MAX, PREVIOUS, type Query, SERIES_MAX } from "../query/query";
import { compareProblem, type ResolvedRows } from "../query/spec";
import { stepRange } from "../query/time";
import { type SharedPart, type ViewManifest, viewShowing } from "../query/viewManifest";
import { FilterBar } from "../widgets/filter/FilterBar";
import { NumberField } from "../widgets/NumberField";
import { GroupPicker } from "../widgets/pickers/GroupPicker";
import { MeasurePicker } from "../widgets/pickers/MeasurePicker";
import { TimeRangeControl } from "../widgets/time/TimeRangeControl";
import { type Commit, useExplore } from "./context";

/** The fields of the query. Each is drawn again only when what it shows is another. */
export function QueryFields({ onZone }: { onZone: (zone: Zone) => void }) {
  const { query, resolved, rows, columns, table, zone, now, views, commit } = useExplore();
  const { from, to, compare, filters, group, measures, series, limit, bucket, where } = query;
  const view = views.find(({ kind }) => kind === query.view.kind);
  const compares = view?.shows.includes("comparison") === true;
  const problem = compares
    ? compareProblem(resolved)
    : `${view?.name ?? "This view"} compares nothing.`;
  return (
    <Stack gap="md">
      <TimeField {...{ from, to, compare, problem, compares, now, zone, table, commit, onZone }} />
      <FilterField {...{ rows, columns, filters, commit }} />
      <GroupField {...{ columns, group, views, commit }} />
      <MeasureField {...{ columns, measures, views, commit }} />
      <MoreFields {...{ series, limit, bucket, where, commit }} />
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

const TimeField = memo(function TimeField(props: {
  from: string;
  to: string;
  compare: string;
  /** Why nothing is compared, or not as it should be. */
  problem: string | null;
  /** Whether the view draws a comparison. */
  compares: boolean;
  now: number;
  zone: Zone;
  table: Table;
  commit: Commit;
  onZone: (zone: Zone) => void;
}) {
  const { from, to, compare, problem, compares, now, zone, table, commit, onZone } = props;
  return (
    <Field label="Time">
      <TimeRangeControl
        {...{ from, to, now, zone, table, onZone }}
        onChange={(range) => commit((query) => ({ ...query, ...range, bucket: "auto" }))}
        onStep={(by) => commit((query) => stepRange(query, now, by))}
      />
      <Compare {...{ compare, problem, compares, commit }} />
    </Field>
  );
});

const FilterField = memo(function FilterField(props: {
  rows: ResolvedRows;
  columns: readonly Column[];
  filters: readonly Filter[];
  commit: Commit;
}) {
  const { rows, columns, filters, commit } = props;
  return (
    <Field label="Filters">
      <FilterBar
        resolved={rows}
        columns={columns}
        filters={filters}
        onChange={(next) => commit((query) => ({ ...query, filters: next }))}
      />
    </Field>
  );
});

const GroupField = memo(function GroupField(props: {
  columns: readonly Column[];
  group: readonly string[];
  views: readonly ViewManifest[];
  commit: Commit;
}) {
  const { columns, group, views, commit } = props;
  const change = (next: string[]) =>
    commit((query) => {
      const grouped = { ...query, group: next };
      return next.length > 0 ? leaveOverview(grouped, views, "groups") : grouped;
    });
  return (
    <Field label="Group by">
      <GroupPicker columns={columns} group={group} onChange={change} />
    </Field>
  );
});

const MeasureField = memo(function MeasureField(props: {
  columns: readonly Column[];
  measures: readonly Measure[];
  views: readonly ViewManifest[];
  commit: Commit;
}) {
  const { columns, measures, views, commit } = props;
  const change = (next: Measure[]) =>
    commit((query) => {
      const measured = { ...query, measures: next };
      const more = next.length > query.measures.length;
      return more ? leaveOverview(measured, views, "measures") : measured;
    });
  return (
    <Field label="Measures">
      <MeasurePicker columns={columns} measures={measures} onChange={change} />
    </Field>
  );
});

/** The overview draws no groups and one measure: a query with more leads to a view that does. */
export function leaveOverview(
  query: Query,
  views: readonly ViewManifest[],
  part: SharedPart,
): Query {
  return query.view.kind === DEFAULT_VIEW ? viewShowing(query, views, part) : query;
}

const KINDS = [
  { value: PREVIOUS, label: "vs previous period" },
  { value: "1d", label: "vs previous day" },
  { value: "7d", label: "vs previous week" },
  { value: "28d", label: "vs previous 4 weeks" },
];
const CUSTOM = "custom";

function Compare(props: {
  compare: string;
  problem: string | null;
  compares: boolean;
  commit: Commit;
}) {
  const { compare, problem, compares, commit } = props;
  const choose = (next: string) => commit((query) => ({ ...query, compare: next }));
  const [writes, setWrites] = useState(false);
  const other = { value: compare, label: `vs ${compare} before` };
  const isListed = compare === "" || KINDS.some(({ value }) => value === compare);
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Switch
          size="xs"
          label="Compare"
          checked={compare !== ""}
          disabled={!compares && compare === ""}
          onChange={(event) => choose(event.currentTarget.checked ? PREVIOUS : "")}
        />
        {compare !== "" && (
          <Select
            size="xs"
            aria-label="Compare with"
            data={[...KINDS, ...(isListed ? [] : [other]), { value: CUSTOM, label: "vs custom…" }]}
            value={writes ? CUSTOM : compare}
            allowDeselect={false}
            onChange={(value) => {
              setWrites(value === CUSTOM);
              if (value && value !== CUSTOM) choose(value);
            }}
          />
        )}
      </Group>
      {compare !== "" && writes && (
        <EarlierBy
          onDone={(length) => {
            setWrites(false);
            choose(length);
          }}
        />
      )}
      {problem && (
        <Text size="xs" c={compares ? "var(--warn)" : "dimmed"} role="note">
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
const MoreFields = memo(function MoreFields(
  props: Pick<Query, "series" | "limit" | "bucket" | "where"> & { commit: Commit },
) {
  const { series, limit, bucket, where, commit } = props;
  const set = (change: Partial<Query>) => commit((query) => ({ ...query, ...change }));
  return (
    <Field label="More">
      <Group grow gap="xs">
        <NumberField
          label="Top N"
          max={SERIES_MAX}
          value={series}
          onChange={(next) => set({ series: next })}
        />
        <NumberField
          label="Limit"
          max={LIMIT_MAX}
          value={limit}
          onChange={(next) => set({ limit: next })}
        />
        <Select
          size="xs"
          label="Bucket"
          data={["auto", "1s", "10s", "1m", "5m", "15m", "1h", "6h", "1d", "7d"]}
          value={bucket}
          allowDeselect={false}
          onChange={(next) => next && set({ bucket: next })}
        />
      </Group>
      <TextInput
        key={where}
        size="xs"
        label="SQL filter"
        placeholder="status >= 500 OR length(message) > 80"
        defaultValue={where}
        onBlur={(event) =>
          event.currentTarget.value !== where && set({ where: event.currentTarget.value })
        }
        onKeyDown={(event) => event.key === "Enter" && set({ where: event.currentTarget.value })}
      />
    </Field>
  );
});
