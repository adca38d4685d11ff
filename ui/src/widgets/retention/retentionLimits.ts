// Which rows a table's settings delete, now and with unsaved edits.

import type { Settings } from "../../api/types";
import { durationText, durationWords } from "../../base/duration";
import { bytes, counted } from "../../base/format";
import type { Zone } from "../../base/zone";
import { momentWords } from "../time/timeWords";
import { changesOf, defaultValueOf, type Name, PREFIXES, type Texts } from "./settingsDraft";

/** The settings that delete rows, as numbers: ages in seconds, Infinity without a limit. */
export interface Limits {
  readonly age: number;
  readonly cold: number;
  readonly sample: number;
  /** One row of so many is kept. */
  readonly oneIn: number;
  readonly least: number;
  readonly bytes: number;
  readonly archive: boolean;
}

/** The current limits. */
export function limitsOf({ effective }: Settings): Limits {
  return {
    age: effective.age_seconds ?? Number.POSITIVE_INFINITY,
    cold: effective.cold_after_seconds ?? Number.POSITIVE_INFINITY,
    sample: effective.sample_after_seconds ?? Number.POSITIVE_INFINITY,
    oneIn: oneInOf(effective.sample_keep) ?? 10,
    least: effective.sample_least,
    bytes: effective.bytes,
    archive: effective.archive,
  };
}

/** The limits with the edits; invalid edits are ignored. */
export function limitsWith(current: Settings, edits: Partial<Texts>): Limits {
  const now = limitsOf(current);
  const changes = changesOf(current, edits);
  const read = <T>(name: Name, before: T, parse: (text: string) => T | null): T => {
    const text = changes[name];
    return text === undefined ? before : (parse(text || defaultValueOf(name, current)) ?? before);
  };
  return {
    age: read("age", now.age, secondsOf),
    cold: read("cold_after", now.cold, secondsOf),
    sample: read("sample_after", now.sample, secondsOf),
    oneIn: read("sample_keep", now.oneIn, oneInOf),
    least: read("sample_least", now.least, (text) => (/^\d+$/.test(text) ? Number(text) : null)),
    bytes: read("bytes", now.bytes, bytesOf),
    archive: read("archive", now.archive, (text) => text === "on"),
  };
}

const UNITS: Record<string, number> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1, "": 1 };

/** The seconds of an age as the server reads it; Infinity for `none`, null for what is no age. */
export function secondsOf(text: string): number | null {
  if (text === "none" || text === "off") return Number.POSITIVE_INFINITY;
  const [, amount, unit = ""] = /^(\d+)([wdhms]?)$/.exec(text) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? 1);
  return seconds >= 60 && seconds <= 36_500 * 86_400 ? seconds : null;
}

/** Of how many rows one is kept: of `1/10` and `0.1` ten; null for what is no share. */
function oneInOf(text: string): number | null {
  const [, rows] = /^1\/(\d+)$/.exec(text) ?? [];
  const many = Math.round(rows === undefined ? 1 / Number(text) : Number(rows));
  return many >= 2 && many <= 10_000 ? many : null;
}

/** The bytes of a size as the server reads it: `2GB`, `512 MiB`, a number; null for what is none. */
export function bytesOf(text: string): number | null {
  const [, amount, prefix = "", binary] =
    /^(\d+(?:\.\d{1,9})?) *(?:([kmgtp])(i)?b|b)?$/i.exec(text) ?? [];
  if (amount === undefined) return null;
  const power = PREFIXES.indexOf(prefix.toLowerCase()) + 1;
  return Number(amount) * (binary ? 1024 : 1000) ** (prefix === "" ? 0 : power);
}

/** An age in words: `30 days`. */
export const ageText = (seconds: number): string => durationWords(durationText(seconds * 1000));

/** Which limits delete rows sooner than the current ones. */
export function deletesSooner(current: Settings, edits: Partial<Texts>) {
  const [now, then] = [limitsOf(current), limitsWith(current, edits)];
  // Rows that are deleted by then are not sampled.
  const samples = then.sample < then.age;
  const harder = then.oneIn > now.oneIn || then.least < now.least;
  const { sample_by, sample_key } = changesOf(current, edits);
  const otherwise = sample_by !== undefined || sample_key !== undefined;
  const unarchived = now.archive && !then.archive;
  return {
    // Rows waiting for the archive, which takes whole days, are deleted at once without it.
    age: then.age < now.age || (unarchived && then.age < Number.POSITIVE_INFINITY),
    bytes: then.bytes < now.bytes || (unarchived && current.block_bytes > then.bytes),
    sample: samples && (then.sample < now.sample || harder || otherwise),
    unarchived,
  };
}

/** Warnings before a change that deletes rows sooner; empty for any other change. */
export function warningsOf(
  current: Settings,
  edits: Partial<Texts>,
  now: number,
  zone: Zone,
): string[] {
  const sooner = deletesSooner(current, edits);
  const then = limitsWith(current, edits);
  const before = (seconds: number) => `from before ${minuteWords(now - seconds * 1000, now, zone)}`;
  const archived = then.archive && current.archive_place !== null;
  const words: string[] = [];
  if (sooner.age) {
    words.push(
      `Rows ${before(then.age)} are deleted ${archived ? "soon, by whole days" : "at once"}.`,
    );
  }
  if (sooner.bytes) {
    const over = current.block_bytes > then.bytes;
    words.push(
      over
        ? `The table has ${bytes(current.block_bytes)}: its oldest rows are deleted until it has ${bytes(then.bytes)}.`
        : `The oldest rows are deleted once the table has ${bytes(then.bytes)}.`,
    );
  }
  if (sooner.sample)
    words.push(`Of rows ${before(then.sample)} about one in ${then.oneIn} is kept.`);
  if (sooner.unarchived) words.push("Deleted rows are no longer archived.");
  if (words.length === 0) return words;
  if (!archived) return [...words, "Deleted rows cannot be restored."];
  if (sooner.age || sooner.bytes) words.push("The archive gets these rows first.");
  if (sooner.sample) {
    words.push("Rows removed by sampling are not archived and cannot be restored.");
  }
  return words;
}

/** A moment to the minute. */
export const minuteWords = (ms: number, now: number, zone: Zone): string =>
  momentWords(Math.floor(ms / 60_000) * 60_000, now, zone);

/** The next rows to be deleted because of their age, and when. */
export function nextExpiryWords(
  current: Settings,
  first: number | null,
  now: number,
  zone: Zone,
): string {
  const { next_expiry: next, effective, archive_place } = current;
  if (effective.archive && archive_place === null) {
    return "Nothing is deleted, as there is no archive to write it to.";
  }
  const limit = effective.age_seconds;
  if (limit === null) return "No age limit.";
  const due = first === null ? Number.NaN : first + limit * 1000;
  if (next ? next.rows === 0 && due > Date.parse(next.at) : due > now) {
    return `Nothing expires yet: the oldest row expires on ${minuteWords(due, now, zone)}.`;
  }
  if (!next) return `Rows are deleted once they are older than ${ageText(limit)}.`;
  const [at, until] = [next.at, next.until].map((it) => minuteWords(Date.parse(it), now, zone));
  if (next.rows === 0) {
    return `Nothing is deleted at ${at}: rows from before ${until} are deleted within a day, with the rest of their row blocks.`;
  }
  const rows = `About ${counted(next.rows, "row")} (${bytes(next.bytes)}) from before ${until}`;
  const verb = next.rows === 1 ? "is deleted" : "are deleted";
  return `${rows} ${verb} at ${at}${effective.archive ? ", to the archive" : ""}.`;
}
