import { Text } from "@mantine/core";
import type { Settings, Table } from "../../api/types";
import { bytes, counted, visible } from "../../base/format";
import type { Zone } from "../../base/zone";
import { recoveryWords } from "../coverage/coverage";
import classes from "./Retention.module.css";
import { RetentionTimeline } from "./RetentionTimeline";
import {
  deletesSooner,
  limitsOf,
  limitsWith,
  minuteWords,
  nextExpiryWords,
} from "./retentionLimits";
import type { Texts } from "./settingsDraft";
import { timelineOf, timelineWords } from "./timeline";

interface Props {
  current: Settings;
  table: Table;
  /** By the server's clock. */
  now: number;
  zone: Zone;
}

const momentOf = (time: string | null | undefined) => (time ? Date.parse(time) : null);

/** The moment before which rows are deleted by the next check; null if none are. */
function untilOf({ next_expiry, effective, archive_place }: Settings): number | null {
  return effective.archive && archive_place === null ? null : momentOf(next_expiry?.until);
}

/** The table's time and the rows that expire next, also with unsaved edits. */
export function RetentionChart(props: Props & { edits: Partial<Texts> }) {
  const { current, table, edits, now, zone } = props;
  const [rules, limits] = [limitsOf(current), limitsWith(current, edits)];
  const first = momentOf(table.first_time);
  const until = deletesSooner(current, edits).age
    ? now - limits.age * 1000
    : limits.age === rules.age
      ? untilOf(current)
      : null;
  const facts = { first, last: momentOf(table.last_time), now, until, limits };
  const timeline = timelineOf(facts);
  const drafted = (["age", "cold", "sample", "oneIn"] as const).some(
    (it) => rules[it] !== limits[it],
  );
  const notes = [
    drafted && "Preview of the unsaved settings.",
    timeline.compressed && "Older times are compressed.",
  ].filter(Boolean);
  return (
    <div>
      <RetentionTimeline
        timeline={timeline}
        words={[timelineWords(facts, zone), ...notes].join(" ")}
        start={first === null ? "no rows yet" : `first row ${minuteWords(first, now, zone)}`}
      />
      {notes.length > 0 && (
        <Text fz={11} c="dimmed" aria-hidden>
          {notes.join(" ")}
        </Text>
      )}
    </div>
  );
}

/** From this share of its bytes on, a table is as good as full. */
const NEARLY = 0.95;

/** The size of the table, its limit, and the next rows to be deleted. */
export function RetentionStatus({ current, table, now, zone }: Props) {
  const { rows, block_bytes, effective } = current;
  const share = block_bytes / effective.bytes;
  const full = share >= NEARLY;
  const dropped = momentOf(table.dropped_until);
  const [first, until] = [momentOf(table.first_time), untilOf(current)];
  const recovery = recoveryWords(table);
  return (
    <div className={classes.facts}>
      <div>
        <Text size="xs" className="numbers">
          {counted(rows, "row")}, <b>{bytes(block_bytes)}</b> of {bytes(effective.bytes)}
        </Text>
        <div className={classes.bar} aria-hidden>
          <div style={{ width: `${Math.min(share, 1) * 100}%` }} data-full={full} />
        </div>
      </div>
      {recovery && (
        <Text size="xs" c="var(--warn)">
          {recovery}
        </Text>
      )}
      {full && (
        <Text size="xs">
          The table is full: new rows replace the oldest ones, whatever their age.
        </Text>
      )}
      <Text size="xs" data-testid="next">
        {first !== null && until !== null && first < until && <span className={classes.swatch} />}
        {nextExpiryWords(current, first, now, zone)}
      </Text>
      {dropped !== null && (
        <Text size="xs" c="dimmed">
          Rows older than this were deleted because the table was full:{" "}
          {minuteWords(dropped, now, zone)}.
        </Text>
      )}
      {current.notes.map((note) => (
        <Text key={note} size="xs" c="var(--warn)" role="note">
          {visible(note)}
        </Text>
      ))}
    </div>
  );
}
