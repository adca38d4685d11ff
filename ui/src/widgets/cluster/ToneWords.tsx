import {
  IconCircleCheckFilled,
  IconPlayerPauseFilled,
  IconPlugConnectedX,
  IconRotateClockwise2,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./Cluster.module.css";
import type { Tone } from "./members";

const ICONS: Record<Tone, typeof IconPlugConnectedX> = {
  alive: IconCircleCheckFilled,
  restoring: IconRotateClockwise2,
  stopping: IconPlayerPauseFilled,
  silent: IconPlugConnectedX,
};

/** The sign of a state. */
export function ToneIcon({ tone, size = 14 }: { tone: Tone; size?: number }) {
  const Icon = ICONS[tone];
  return <Icon size={size} aria-hidden />;
}

/** A state: its sign and its words, in its colour. */
export function ToneWords({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`${classes.tone} ${classes.words}`} data-tone={tone}>
      <ToneIcon tone={tone} />
      {children}
    </span>
  );
}
