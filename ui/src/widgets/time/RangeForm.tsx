import {
  ActionIcon,
  Button,
  Divider,
  Group,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { IconCalendar } from "@tabler/icons-react";
import { type FormEvent, useMemo, useRef, useState } from "react";
import type { Table } from "../../api/types";
import { durationWords } from "../../base/duration";
import { visible } from "../../base/format";
import { timeText, type Zone, zoneName } from "../../base/zone";
import { ALL, FULL_RANGE, PRESETS } from "../../query/time";
import classes from "./TimeRangeControl.module.css";
import {
  keptMoment,
  momentWords,
  rangeProblem,
  shownMoment,
  spanWords,
  typedMoment,
} from "./timeWords";

const PERIODS = [
  { name: "today", from: "today", to: "now" },
  { name: "yesterday", from: "yesterday", to: "today" },
  { name: "this week", from: "this week", to: "now" },
  { name: "this month", from: "this month", to: "now" },
];

/** All ways to pick a time range: a usual length, all there is, or two moments; and the zone. */
export function RangeForm(props: {
  from: string;
  to: string;
  now: number;
  zone: Zone;
  table?: Table;
  onChange: (range: { from: string; to: string }) => void;
  onZone: (zone: Zone) => void;
}) {
  const { from, to, now, table, zone, onChange, onZone } = props;
  return (
    <Stack gap="xs">
      <SimpleGrid cols={4} spacing={4} verticalSpacing={4}>
        {PRESETS.map((length) => {
          const chosen = to === "now" && (from === `-${length}` || from === `now-${length}`);
          return (
            <Button
              key={length}
              size="compact-sm"
              fz={12}
              fw={chosen ? 600 : 500}
              variant={chosen ? "light" : "default"}
              aria-pressed={chosen}
              aria-label={`${length}: last ${durationWords(length)}`}
              title={`Last ${durationWords(length)}`}
              onClick={() => onChange({ from: `-${length}`, to: "now" })}
            >
              {length}
            </Button>
          );
        })}
      </SimpleGrid>
      <SimpleGrid cols={4} spacing={4}>
        {PERIODS.map(({ name, from: begins, to: ends }) => (
          <Button
            key={name}
            px={2}
            size="compact-sm"
            fz={12}
            fw={500}
            variant="default"
            onClick={() =>
              onChange({ from: keptMoment(begins, now, zone), to: keptMoment(ends, now, zone) })
            }
          >
            {name}
          </Button>
        ))}
      </SimpleGrid>
      {table && (
        <>
          <Button
            size="compact-sm"
            fz={12}
            fw={500}
            variant={from === ALL ? "light" : "default"}
            aria-pressed={from === ALL}
            onClick={() => onChange(FULL_RANGE)}
          >
            All of the table’s data
          </Button>
          <Text size="xs" c="dimmed" className={classes.source}>
            A row’s time is its <b>{visible(table.time_column)}</b>: {spanWords(table, now, zone)}
          </Text>
        </>
      )}
      <Divider />
      {/* Another zone reads the same moments otherwise. */}
      <Moments key={zone} {...props} />
      <Divider />
      <ZoneChoice zone={zone} onZone={onZone} />
    </Stack>
  );
}

function Moments(props: {
  from: string;
  to: string;
  now: number;
  zone: Zone;
  table?: Table;
  onChange: (range: { from: string; to: string }) => void;
}) {
  const { now, zone, onChange } = props;
  const { first_time: first = null } = props.table ?? {};
  const begins = props.from === ALL && first !== null ? first : props.from;
  const [from, setFrom] = useState(() => shownMoment(begins, now, zone));
  const [to, setTo] = useState(() => shownMoment(props.to, now, zone));
  const problem = rangeProblem(from, to, now, zone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (problem) return;
    onChange({ from: keptMoment(from, now, zone), to: keptMoment(to, now, zone) });
  };
  const field = (label: string, text: string, set: (text: string) => void) => {
    const at = typedMoment(text, now, zone);
    return (
      <TextInput
        size="xs"
        label={label}
        spellCheck={false}
        autoComplete="off"
        value={text}
        error={at === null}
        description={at === null ? "not a time" : momentWords(at, now, zone)}
        inputWrapperOrder={["label", "input", "description"]}
        rightSection={
          <Calendar
            label={`${label}: pick a day`}
            day={at === null ? "" : timeText(at, zone).slice(0, 10)}
            onPick={set}
          />
        }
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" grow align="flex-start">
        {field("From", from, setFrom)}
        {field("To", to, setTo)}
      </Group>
      <Group gap="xs" mt={6} wrap="nowrap" align="flex-end">
        <Text size="xs" flex={1} c={problem ? "var(--bad)" : "dimmed"} aria-live="polite">
          {problem ?? "2 hours ago, 14:30, Nov 20 12:00"}
        </Text>
        <Button type="submit" size="compact-sm" fz={12} px="sm" disabled={problem !== null}>
          Apply
        </Button>
      </Group>
    </form>
  );
}

/** The browser's own calendar; a day begins at its midnight. */
function Calendar(props: { label: string; day: string; onPick: (day: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <ActionIcon
        size="xs"
        variant="subtle"
        color="gray"
        aria-label={props.label}
        onClick={() => input.current?.showPicker()}
      >
        <IconCalendar size={14} />
      </ActionIcon>
      <input
        ref={input}
        type="date"
        tabIndex={-1}
        aria-hidden="true"
        className={classes.calendar}
        value={props.day}
        onChange={(event) => event.currentTarget.value && props.onPick(event.currentTarget.value)}
      />
    </>
  );
}

/** All zones that the browser knows. */
const namedZones = () =>
  Intl.supportedValuesOf("timeZone").map((it) => ({ value: it, label: it.replaceAll("_", " ") }));

/** Local time, UTC, or any named zone. */
function ZoneChoice({ zone, onZone }: { zone: Zone; onZone: (zone: Zone) => void }) {
  const named = zone !== "local" && zone !== "UTC";
  const [choosing, setChoosing] = useState(named);
  const zones = useMemo(() => (choosing ? namedZones() : []), [choosing]);
  const choose = (kind: string) => {
    setChoosing(kind === "named");
    if (kind !== "named") onZone(kind);
  };
  return (
    <Stack gap={6}>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label="Times are shown in"
        value={choosing ? "named" : zone}
        onChange={choose}
        data={[
          { value: "local", label: "Local" },
          { value: "UTC", label: "UTC" },
          { value: "named", label: "Other zone" },
        ]}
      />
      {choosing ? (
        <Select
          size="xs"
          aria-label="Zone"
          placeholder="Find a zone"
          searchable
          limit={60}
          nothingFoundMessage="No zone has this in its name"
          data={zones}
          value={named ? zone : null}
          onChange={(it) => it && onZone(it)}
          comboboxProps={{ withinPortal: false, size: "xs" }}
          maxDropdownHeight={180}
        />
      ) : (
        <Text size="xs" c="dimmed">
          Times are {zone === "local" ? `local (${zoneName("local")})` : `in ${zone}`}
        </Text>
      )}
    </Stack>
  );
}
