// A rollover in words.

import type { RollingLeaf, Rollover } from "../../api/rollover";
import { spanWords } from "../../base/duration";
import { visible } from "../../base/format";

export const hasEnded = ({ phase }: Pick<Rollover, "phase">) =>
  phase === "done" || phase === "stopped";

export const leavesOf = (rollover: Rollover) =>
  rollover.old + rollover.rolling.length + rollover.new;

/** How far it is, in a few words. */
export function phaseWords({ phase, begun, at }: Rollover): string {
  const span = spanWords(Date.parse(at) - Date.parse(begun));
  switch (phase) {
    case "running":
      return `running for ${span}`;
    case "stopping":
      return "stopping after the leaves that are restarting";
    case "stopped":
      return `stopped after ${span}`;
    case "done":
      return `done in ${span}`;
  }
}

/** A leaf that is restarting, at a time. */
export function rollingWords({ name, since, failed }: RollingLeaf, at: string): string {
  const span = spanWords(Date.parse(at) - Date.parse(since));
  return failed ? `${visible(name)} did not come back` : `${visible(name)} for ${span}`;
}

/** The command that continues a rollover that stopped. */
export const resumeLine = ({ resume_from }: Rollover) =>
  `hadal rollover --started-before ${visible(resume_from)}`;
