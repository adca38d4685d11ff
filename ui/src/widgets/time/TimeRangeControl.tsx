import { ActionIcon, Popover, VisuallyHidden } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconZoomOut } from "@tabler/icons-react";
import { useState } from "react";
import type { Table } from "../../api/types";
import { type Zone, zoneName } from "../../base/zone";
import { moment } from "../../query/time";
import { RangeForm } from "./RangeForm";
import classes from "./TimeRangeControl.module.css";
import { lengthWords, momentWords, rangeWords } from "./timeWords";

interface Props {
  from: string;
  to: string;
  /** The moment of asking, in milliseconds by the server's clock. */
  now: number;
  zone: Zone;
  /** Whose whole time can be picked. */
  table?: Table;
  onChange: (range: { from: string; to: string }) => void;
  /** An earlier range (-1), a longer one (0), a later one (1). */
  onStep: (by: -1 | 0 | 1) => void;
  onZone: (zone: Zone) => void;
}

/** The time range in words; pressed, all ways to pick another, and the zone that times are shown in. */
export function TimeRangeControl(props: Props) {
  const { from, to, now, zone, onChange } = props;
  const [opened, setOpened] = useState(false);
  const words = rangeWords(from, to, now, zone);
  const detail = detailWords(from, to, now, zone);
  return (
    <div className={classes.row}>
      <Popover
        opened={opened}
        onChange={setOpened}
        position="bottom-start"
        width={330}
        shadow="md"
        offset={4}
        trapFocus
        returnFocus
        withRoles={false}
        transitionProps={{ duration: 0 }}
      >
        <Popover.Target>
          {/* The popover gives its target an id; the key `t` looks for the button. */}
          <div className={classes.target}>
            <button
              type="button"
              id="time-input"
              className={classes.button}
              title={`${words}\n${detail}`}
              aria-haspopup="dialog"
              aria-expanded={opened}
              onClick={() => setOpened(!opened)}
            >
              <VisuallyHidden>Time range: </VisuallyHidden>
              <span className={classes.words}>{words}</span>
              <span className={classes.detail}>{detail}</span>
            </button>
          </div>
        </Popover.Target>
        <Popover.Dropdown p="xs" maw="calc(100vw - 16px)" role="dialog" aria-label="Time range">
          <RangeForm
            {...props}
            onChange={(range) => {
              setOpened(false);
              onChange(range);
            }}
          />
        </Popover.Dropdown>
      </Popover>
      <Steps onStep={props.onStep} />
    </div>
  );
}

/** What the words leave open: the moments of a relative range, the length of a fixed one, the zone. */
function detailWords(from: string, to: string, now: number, zone: Zone): string {
  const [first, last] = [moment(from, now), moment(to, now)];
  const place = zone === "local" ? "Local" : zoneName(zone).replaceAll("_", " ");
  if (first === null || last === null) return place;
  const relative = rangeWords(from, to, now, zone).startsWith("Last");
  const shown = relative ? `since ${momentWords(first, now, zone)}` : lengthWords(last - first);
  return `${shown} · ${place}`;
}

function Steps({ onStep }: { onStep: Props["onStep"] }) {
  const steps = [
    { by: -1, name: "Earlier", icon: IconChevronLeft },
    { by: 1, name: "Later", icon: IconChevronRight },
    { by: 0, name: "Zoom out", icon: IconZoomOut },
  ] as const;
  return (
    <ActionIcon.Group className={classes.steps ?? ""}>
      {steps.map(({ by, name, icon: Icon }) => (
        <ActionIcon
          key={by}
          variant="default"
          w={24}
          h="auto"
          aria-label={name}
          title={name}
          onClick={() => onStep(by)}
        >
          <Icon size={15} stroke={1.7} />
        </ActionIcon>
      ))}
    </ActionIcon.Group>
  );
}
