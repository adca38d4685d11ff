// The last minutes of a cluster, as the page saw them.

import type { Cluster } from "../../api/cluster";
import { leavesOf, type Tone, toneOf } from "./members";

/** What is remembered of one moment. */
export interface Moment {
  /** Milliseconds. */
  at: number;
  coverage: number;
  /** By the name of the leaf. */
  tones: ReadonlyMap<string, Tone>;
  /** When each leaf was started, by its name. */
  starts: ReadonlyMap<string, string | null>;
}

/** How far the page looks back. */
export const HISTORY_MS = 300_000;
/** Nothing is known between moments that are further apart: the page was hidden. */
export const GAP_MS = 12_000;

/** The history with a new moment, without those that are too old. */
export function remember(history: readonly Moment[], cluster: Cluster): readonly Moment[] {
  const at = Date.parse(cluster.at);
  const last = history.at(-1);
  // A server's clock that goes back begins another history.
  const earlier = last && last.at > at ? [] : history;
  if (last?.at === at) return history;
  const leaves = leavesOf(cluster);
  const tones = new Map(leaves.map((leaf) => [leaf.name, toneOf(leaf.state)]));
  const starts = new Map(leaves.map((leaf) => [leaf.name, leaf.started]));
  const moment = { at, coverage: cluster.coverage, tones, starts };
  return [...earlier.filter((it) => at - it.at <= HISTORY_MS), moment];
}

/** A stretch of time in percent of the history's length, from the left. */
export interface Stretch {
  tone: Tone;
  from: number;
  width: number;
}

/** Where a moment is drawn, in percent; the newest at 100. */
export const placeOf = (at: number, now: number) => 100 - ((now - at) / HISTORY_MS) * 100;

/** The stretches of one tone of a leaf. Each moment lasts until the next one, unless that is far. */
export function stretchesOf(history: readonly Moment[], leaf: string): Stretch[] {
  const now = history.at(-1)?.at ?? 0;
  const stretches: Stretch[] = [];
  history.forEach((moment, index) => {
    const tone = moment.tones.get(leaf);
    const next = history[index + 1];
    if (tone === undefined || !next || next.at - moment.at > GAP_MS) return;
    const from = Math.max(0, placeOf(moment.at, now));
    const width = placeOf(next.at, now) - from;
    const last = stretches.at(-1);
    if (last?.tone === tone && Math.abs(last.from + last.width - from) < 1e-6) last.width += width;
    else stretches.push({ tone, from, width });
  });
  return stretches;
}

/** Where a leaf was found to be started again, in percent. */
export function restartsOf(history: readonly Moment[], leaf: string): number[] {
  const now = history.at(-1)?.at ?? 0;
  const again = history.filter((moment, index) => {
    const [start, before] = [moment.starts.get(leaf), history[index - 1]?.starts.get(leaf)];
    return start && before && start !== before;
  });
  return again.map((moment) => placeOf(moment.at, now));
}
