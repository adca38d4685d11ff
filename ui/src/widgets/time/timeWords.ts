// The time range as people read and write it, in the reader's zone.

import type { Table } from "../../api/types";
import { durationMs, durationWords } from "../../base/duration";
import { timeText, unzoned, type Zone } from "../../base/zone";
import { ALL, moment } from "../../query/time";

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?))?$/;
const WRITTEN =
  /^(?:([a-z]{3,9})\.? (\d{1,2})|(\d{1,2})\.? ([a-z]{3,9})\.?)(?:,? (\d{4}))?(?:[ ,]+(?:at )?(\d?\d:\d\d(?::\d\d)?))?$/i;
const AGO = /^(?:(?:the )?(?:last|past) )?((?:\d+(?:\.\d+)? ?[a-z]+ ?)+?)( ago)?$/i;
const PERIOD = /^this (week|month|year)$/i;
const DAY = /^(today|yesterday)(?:[ ,]+(?:at )?(\d?\d:\d\d(?::\d\d)?))?$/i;
const CLOCK = /^(\d?\d:\d\d(?::\d\d)?)$/;
const ABSOLUTE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i;
const UNIX = /^\d{9,10}(\.\d+)?$/;
const RELATIVE = /^(?:now|(?:now)?[+-](?:\d+(?:\.\d+)?[smhdw])+)$/;

/**
 * A moment that somebody types: `now`, `-3h`, `2 hours ago`, `now-1d`, ISO 8601, Unix seconds, or a
 * date and a clock in the zone, of which either may be left out. The date may be `today`,
 * `yesterday`, `this week` or `Nov 25`. Null if it is none.
 */
export function typedMoment(text: string, now: number, zone: Zone): number | null {
  const today = timeText(now, zone).slice(0, 10);
  const typed = dated(relativeText(text) ?? text.trim(), today);
  if (typed === "") return null;
  const [, clock] = CLOCK.exec(typed) ?? [];
  const [, day, hours = "00:00"] =
    DATE.exec(clock ? `${today} ${clock.padStart(clock.length < 7 ? 5 : 8, "0")}` : typed) ?? [];
  if (day !== undefined) {
    const wall = Date.parse(`${day}T${hours}Z`);
    // Some browsers take the 31st of November for the 1st of December.
    const isDay = !Number.isNaN(wall) && new Date(wall).toISOString().startsWith(day);
    return isDay ? unzoned(wall, zone) : null;
  }
  const meant = RELATIVE.test(typed) || ABSOLUTE.test(typed) || UNIX.test(typed);
  return meant ? moment(typed, now) : null;
}

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/^s(ec(ond)?s?)?$/i, "s"],
  [/^m(in(ute)?s?)?$/i, "m"],
  [/^h(ours?|rs?)?$/i, "h"],
  [/^d(ays?)?$/i, "d"],
  [/^w(eeks?)?$/i, "w"],
];

/** `-2h` for `2h`, `2 hours`, `last 2 hours`, `1h 30min ago`; null for what is no length of time. */
export function relativeText(text: string): string | null {
  const [, lengths] = AGO.exec(text.trim()) ?? [];
  if (lengths === undefined) return null;
  const parts = [...lengths.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/gi)].map(
    ([, amount, name = ""]) => {
      const unit = UNITS.find(([pattern]) => pattern.test(name))?.[1];
      return unit === undefined ? null : `${amount}${unit}`;
    },
  );
  return parts.includes(null) ? null : `-${parts.join("")}`;
}

/** With the date for `today`, `this week`, `Nov 25 14:00` and the like. */
function dated(typed: string, today: string): string {
  return beginOf(typed, today) ?? monthly(typed, today) ?? named(typed, today);
}

/** The first day of this week, month or year; null for any other text. */
function beginOf(typed: string, today: string): string | null {
  const [, period] = PERIOD.exec(typed) ?? [];
  if (period === undefined) return null;
  if (period.toLowerCase() === "year") return `${today.slice(0, 4)}-01-01`;
  if (period.toLowerCase() === "month") return `${today.slice(0, 7)}-01`;
  const noon = Date.parse(`${today}T12:00:00Z`);
  const sinceMonday = (new Date(noon).getUTCDay() + 6) % 7;
  return new Date(noon - sinceMonday * 86_400_000).toISOString().slice(0, 10);
}

/** A day with the name of its month. Without a year, the last such day that is not to come. */
function monthly(typed: string, today: string): string | null {
  const [, first, dayAfter, dayBefore, second, year, clock = "00:00"] = WRITTEN.exec(typed) ?? [];
  const name = first ?? second;
  if (name === undefined) return null;
  const full = name.toLowerCase();
  const month = MONTHS.findIndex((it) => full.startsWith(it.toLowerCase())) + 1;
  if (month === 0) return null;
  const day = `${String(month).padStart(2, "0")}-${(dayAfter ?? dayBefore ?? "").padStart(2, "0")}`;
  const thisYear = Number(today.slice(0, 4));
  const last = `${thisYear}-${day}` > today ? thisYear - 1 : thisYear;
  return `${year ?? last}-${day} ${clock.padStart(clock.length < 7 ? 5 : 8, "0")}`;
}

/** With the date for `today` and `yesterday`. */
function named(typed: string, today: string): string {
  const [, word, clock = "00:00"] = DAY.exec(typed) ?? [];
  if (word === undefined) return typed;
  const back = word.toLowerCase() === "today" ? 0 : 86_400_000;
  const day = new Date(Date.parse(`${today}T00:00:00Z`) - back).toISOString().slice(0, 10);
  return `${day} ${clock.padStart(clock.length < 7 ? 5 : 8, "0")}`;
}

/** What the query keeps of a typed moment: relative ones as they are, others as fixed ones. */
export function keptMoment(text: string, now: number, zone: Zone): string {
  const typed = relativeText(text) ?? text.trim();
  const at = typedMoment(typed, now, zone);
  return at === null || RELATIVE.test(typed) ? typed : new Date(at).toISOString();
}

/** A fixed moment of the query as its input shows it, in the zone; relative ones as they are. */
export function shownMoment(text: string, now: number, zone: Zone): string {
  const at = moment(text, now);
  if (at === null || RELATIVE.test(text.trim())) return text;
  return timeText(at, zone, at % 1000 !== 0).replace(/(\d\d:\d\d):00$/, "$1");
}

/** Why two typed moments are no range; null if they are one. */
export function rangeProblem(from: string, to: string, now: number, zone: Zone): string | null {
  const first = typedMoment(from, now, zone);
  const last = typedMoment(to, now, zone);
  if (first === null || last === null) {
    const wrong = (first === null ? from : to).trim();
    if (wrong === "") return first === null ? "From when?" : "Until when?";
    return `“${wrong.slice(0, 30)}” is not a time. Write 2h ago, now, 14:30 or Nov 20 12:00.`;
  }
  return first < last ? null : "The range ends before it begins.";
}

/** A range in a few words: `Last 1 day`, `Nov 20 03:10 – Nov 21 09:00`. */
export function rangeWords(from: string, to: string, now: number, zone: Zone): string {
  if (from === ALL) return "All of the table";
  const [, back] = /^(?:now)?-(\S+)$/.exec(from.trim()) ?? [];
  if (to.trim() === "now" && back && durationMs(back) !== null) {
    return `Last ${durationWords(back)}`;
  }
  const first = moment(from, now);
  const last = moment(to, now);
  if (first === null || last === null) return "Pick a time range";
  // The button's title has the seconds.
  const whole = (ms: number) => (last - first >= 3_600_000 ? Math.floor(ms / 60_000) * 60_000 : ms);
  const start = momentWords(whole(first), now, zone);
  if (to.trim() === "now") return `${start} – now`;
  const end = momentWords(whole(last), now, zone);
  const sameDay = timeText(first, zone).slice(0, 10) === timeText(last, zone).slice(0, 10);
  return `${start} – ${sameDay ? clockWords(whole(last), zone) : end}`;
}

/** `Nov 20 03:10`, with the year where it is another one, with seconds where there are any. */
export function momentWords(ms: number, now: number, zone: Zone): string {
  const text = timeText(ms, zone);
  const day = `${MONTHS[Number(text.slice(5, 7)) - 1]} ${Number(text.slice(8, 10))}`;
  const year = text.slice(0, 4);
  const shown = year === timeText(now, zone).slice(0, 4) ? day : `${day} ${year}`;
  return `${shown} ${clockWords(ms, zone)}`;
}

function clockWords(ms: number, zone: Zone): string {
  const clock = timeText(ms, zone).slice(11);
  return clock.endsWith(":00") ? clock.slice(0, 5) : clock;
}

/** A length in its two largest units: `1d 5h`, `42m`, `3.5s`. */
export function lengthWords(ms: number): string {
  const units: [string, number][] = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1000],
  ];
  const at = units.findIndex(([, size]) => ms >= size);
  const [big, small] = [units[at], units[at + 1]];
  if (!big) return `${Math.round(ms)}ms`;
  const whole = Math.floor(ms / big[1]);
  const rest = small ? Math.round((ms % big[1]) / small[1]) : 0;
  if (small && rest * small[1] === big[1]) return lengthWords((whole + 1) * big[1]);
  return rest > 0 && small ? `${whole}${big[0]} ${rest}${small[0]}` : `${whole}${big[0]}`;
}

/** From when to when a table has rows, how old they may be, and until when it gave up older ones. */
export function spanWords(table: Table, now: number, zone: Zone): string {
  const { first_time, last_time, age_limit_days, dropped_until } = table;
  if (first_time === null || last_time === null) return "no rows yet";
  const words = (time: string) => momentWords(secondOf(time), now, zone);
  const limit = age_limit_days === null ? "of any age" : `none older than ${age_limit_days} days`;
  const span = `rows from ${words(first_time)} to ${words(last_time)}, ${limit}`;
  if (dropped_until === null) return span;
  return `${span}; the table being full, older ones until ${words(dropped_until)} were dropped`;
}

const secondOf = (time: string) => Math.floor(Date.parse(time) / 1000) * 1000;

/** When a table's last row came: `live`, `3 min ago`, `2 days ago`, `in 5 h`. */
export function ageWords(last: string | null, now: number): string {
  if (last === null) return "no rows";
  const seconds = (now - Date.parse(last)) / 1000;
  if (Math.abs(seconds) < 60) return "live";
  const length = roughly(Math.abs(seconds));
  return seconds < 0 ? `in ${length}` : `${length} ago`;
}

function roughly(seconds: number): string {
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? "1 day" : `${days} days`;
}
