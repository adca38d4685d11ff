// A table's time as a strip from its oldest row to now, with the ages at which rows become cold,
// are sampled and are deleted.

import type { Zone } from "../../base/zone";
import { ageText, type Limits, minuteWords } from "./retentionLimits";

/** How rows are there: about to go, some of them only, in fewer bytes, or as they came. */
export type Tone = "expiring" | "sampled" | "cold" | "full";

export interface TimelinePart {
  readonly tone: Tone;
  /** Percent of the strip, 100 being now. */
  readonly from: number;
  readonly to: number;
}

export interface TimelineMark {
  readonly text: string;
  readonly x: number;
}

export interface Timeline {
  readonly parts: readonly TimelinePart[];
  /** From the oldest age to the youngest. */
  readonly marks: readonly TimelineMark[];
  /** Where the first row is; null without one. */
  readonly first: number | null;
  /** Whether old times stand closer together than young ones. */
  readonly compressed: boolean;
}

/** What a strip is drawn from: moments in milliseconds. */
export interface TimelineInput {
  readonly first: number | null;
  readonly last: number | null;
  readonly now: number;
  /** Rows before this moment go next. */
  readonly until: number | null;
  readonly limits: Limits;
}

/** The youngest age that matters gets at least this share of the strip. */
const ROOM = 0.2;
/** So much of the strip is left beyond the oldest limit. */
const BEYOND = 1.06;

/** The limits, without those that have no effect because rows are deleted earlier. */
function inTime(limits: Limits): Limits {
  const within = (seconds: number) => (seconds < limits.age ? seconds : Number.POSITIVE_INFINITY);
  return { ...limits, cold: within(limits.cold), sample: within(limits.sample) };
}

/** The strip. Where one age is far beyond another, old times are bent together, so that both are seen. */
export function timelineOf({ first, last, now, until, ...facts }: TimelineInput): Timeline {
  const limits = inTime(facts.limits);
  const age = (ms: number) => Math.max(now - ms, 0) / 1000;
  const cuts = [
    { seconds: limits.age, text: `deleted after ${ageText(limits.age)}` },
    { seconds: limits.sample, text: `1 in ${limits.oneIn} after ${ageText(limits.sample)}` },
    { seconds: limits.cold, text: `cold after ${ageText(limits.cold)}` },
  ].filter(({ seconds }) => Number.isFinite(seconds));
  const ages = cuts.map(({ seconds }) => seconds);
  const oldest = first === null ? 0 : age(first);
  const span = Math.max(oldest, ...ages.map((seconds) => seconds * BEYOND), 60);
  const youngest = Math.min(...ages, oldest > 0 ? oldest : span);
  // The power that gives the youngest its room; 1 is to scale.
  const power = Math.min(1, Math.log(ROOM) / Math.log(Math.min(youngest / span, 0.99)));
  const place = (seconds: number) => 100 * (1 - (Math.min(seconds, span) / span) ** power);
  return {
    parts:
      first === null
        ? []
        : partsOf(oldest, last === null ? 0 : age(last), until, age, limits, place),
    marks: cuts
      .toSorted((a, b) => b.seconds - a.seconds)
      .map(({ seconds, text }) => ({ text, x: place(seconds) })),
    first: first === null ? null : place(oldest),
    compressed: power < 1,
  };
}

function partsOf(
  oldest: number,
  youngest: number,
  until: number | null,
  age: (ms: number) => number,
  limits: Limits,
  place: (seconds: number) => number,
): TimelinePart[] {
  const expiring = until === null ? Number.POSITIVE_INFINITY : age(until);
  const inside = [expiring, limits.sample, limits.cold].filter(
    (it) => it < oldest && it > youngest,
  );
  const ends = [oldest, ...inside.toSorted((a, b) => b - a), youngest];
  const tone = (older: number): Tone => {
    if (older > expiring) return "expiring";
    if (older > limits.sample) return "sampled";
    return older > limits.cold ? "cold" : "full";
  };
  return ends.slice(0, -1).map((older, at) => {
    const [from, to] = [place(older), place(ends[at + 1] ?? youngest)];
    return { tone: tone(older), from, to };
  });
}

/** What the strip shows, for those who do not see it. */
export function timelineWords({ first, now, until, ...facts }: TimelineInput, zone: Zone): string {
  const limits = inTime(facts.limits);
  const moment = (ms: number) => minuteWords(ms, now, zone);
  const words = [
    first === null ? "No rows yet." : `Rows from ${moment(first)} on.`,
    until !== null &&
      first !== null &&
      until > first &&
      `Rows before ${moment(until)} have expired.`,
    Number.isFinite(limits.cold) && `Rows are cold after ${ageText(limits.cold)}.`,
    Number.isFinite(limits.sample) &&
      `About one in ${limits.oneIn} is kept after ${ageText(limits.sample)}.`,
    Number.isFinite(limits.age)
      ? `Rows are deleted after ${ageText(limits.age)}.`
      : "Rows of any age are kept.",
  ];
  return words.filter(Boolean).join(" ");
}
