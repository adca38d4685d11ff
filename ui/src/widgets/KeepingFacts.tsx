import { Text } from "@mantine/core";
import type { Settings, Table } from "../api/types";
import { bytes, counted } from "../base/format";
import type { Zone } from "../base/zone";
import classes from "./Keeping.module.css";
import { KeepingStrip } from "./KeepingStrip";
import { changesOf, type Texts } from "./keeping";
import { limitsWith, minuteWords, nextWords, soonerWith } from "./keepingLimits";
import { stripOf, stripWords } from "./keepingStrip";

interface Props {
  told: Settings;
  table: Table;
  /** By the server's clock. */
  now: number;
  zone: Zone;
}

const momentOf = (time: string | null | undefined) => (time ? Date.parse(time) : null);

/** The table's time, with what goes next, or would with what is typed. */
export function KeepingPicture(props: Props & { edits: Partial<Texts> }) {
  const { told, table, edits, now, zone } = props;
  const limits = limitsWith(told, edits);
  const first = momentOf(table.first_time);
  const next = told.next_expiry && told.next_expiry.rows > 0 ? told.next_expiry : null;
  const until = soonerWith(told, edits).age
    ? now - limits.age * 1000
    : limits.age === told.effective.age_seconds
      ? momentOf(next?.until)
      : null;
  const facts = { first, last: momentOf(table.last_time), now, until, limits };
  const strip = stripOf(facts);
  const drafted = Object.keys(changesOf(told, edits)).length > 0;
  const notes = [
    drafted && "As it would be, once saved.",
    strip.bent && "Old times are drawn closer together.",
  ].filter(Boolean);
  return (
    <div>
      <KeepingStrip
        strip={strip}
        words={[stripWords(facts, zone), ...notes].join(" ")}
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

/** How much there is of how much there may be, and what goes next. */
export function KeepingFacts({ told, table, now, zone }: Props) {
  const { rows, block_bytes, effective, next_expiry } = told;
  const share = block_bytes / effective.bytes;
  const full = share >= NEARLY;
  const dropped = momentOf(table.dropped_until);
  const goes = (next_expiry?.rows ?? 0) > 0;
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
      {full && (
        <Text size="xs">
          The table is full: its oldest rows go as others come, whatever their age.
        </Text>
      )}
      <Text size="xs" data-testid="next">
        {goes && <span className={classes.swatch} />}
        {nextWords(told, momentOf(table.first_time), now, zone)}
      </Text>
      {dropped !== null && (
        <Text size="xs" c="dimmed">
          Being full, it gave up older rows until {minuteWords(dropped, now, zone)}.
        </Text>
      )}
    </div>
  );
}
