// A table's settings as texts that people edit.

import { explicitSettings } from "../../api/settings";
import type { ProblemBody, SetSettings, Settings } from "../../api/types";
import { visible } from "../../base/format";

/** The settings that have an input: not the same ages in seconds, nor the units of columns. */
type ServerName = Exclude<keyof Settings["effective"], `${string}_seconds` | "units">;

/** All settings with their defaults; null if only the server knows it. */
const DEFAULTS = {
  age: "30d",
  archive: "off",
  bytes: null,
  cold_after: "none",
  sample_after: "none",
  sample_by: "",
  sample_keep: "1/10",
  sample_key: "no column",
  sample_least: "1",
  storage: "memory",
  time_column: "detected from the first rows",
} as const satisfies Record<ServerName, string | null>;

export type Name = keyof typeof DEFAULTS;

export const NAMES = Object.keys(DEFAULTS) as readonly Name[];

/** All settings as texts, empty if not set. Columns are a list in JSON. */
export type Texts = Readonly<Record<Name, string>>;

/** Unsaved edits, and the settings that they started from. */
export interface Draft {
  readonly table: string;
  readonly edits: Partial<Texts>;
  readonly seen: { readonly version: number; readonly texts: Texts } | null;
}

export const NO_DRAFT: Draft = { table: "", edits: {}, seen: null };

/** The settings as texts. */
export function textsOf(current: Settings): Texts {
  const explicit = explicitSettings(current);
  return Object.fromEntries(NAMES.map((name) => [name, textOf(name, explicit[name])])) as Texts;
}

function textOf(name: Name, value: SetSettings[string] | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number") return name === "bytes" ? spellBytes(value) : String(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The default of a setting. */
export function defaultValueOf(name: Name, current: Settings): string {
  return DEFAULTS[name] ?? spellBytes(current.bytes_default);
}

/** The value in force if the input of a setting is empty. */
export function defaultOf(name: Name, current: Settings): string {
  if (name in explicitSettings(current)) return defaultValueOf(name, current);
  const { [name]: value } = current.effective;
  if (name === "sample_by" || value === null) return defaultValueOf(name, current);
  return visible(textOf(name, value));
}

/** The edits that differ from the current settings. */
export function changesOf(current: Settings, edits: Partial<Texts>): Partial<Texts> {
  const texts = textsOf(current);
  const changes: Partial<Record<Name, string>> = {};
  for (const name of NAMES) {
    const text = edits[name];
    if (text === undefined || text === texts[name] || text.trim() === texts[name]) continue;
    changes[name] = text.trim();
  }
  return changes;
}

/** All settings to send: the edited ones, and the others unchanged. */
export function settingsWith(current: Settings, edits: Partial<Texts>): SetSettings {
  const settings = { ...explicitSettings(current) };
  for (const [name, text] of Object.entries(changesOf(current, edits))) {
    if (text === "") delete settings[name];
    else settings[name] = sentOf(name as Name, text);
  }
  return settings;
}

function sentOf(name: Name, text: string): SetSettings[string] {
  if (name === "sample_by") return columnsOf(text);
  return name === "sample_least" && /^\d+$/.test(text) ? Number(text) : text;
}

/** The columns of the text of `sample_by`, and back. */
export const columnsOf = (text: string): string[] => (text === "" ? [] : JSON.parse(text));
export const columnsText = (columns: readonly string[]): string =>
  columns.length === 0 ? "" : JSON.stringify(columns);

/** The setting that the server refused, and why; null where it is none of them. */
export function refusedSetting(
  problem: ProblemBody | undefined,
): { name: Name; reason: string } | null {
  const name = NAMES.find((it) => it === problem?.field);
  if (!problem || !name) return null;
  return { name, reason: problem.detail.replace(`${name}: `, "") };
}

/** The id of a setting's input: the focus goes there when it is wrong. */
export const inputId = (name: Name): string => `retention-${name}`;

/** What differs between what somebody began with and what is set now: `age=7d, bytes=default`. */
export function changedByOthers(seen: Texts, now: Texts): string {
  const changed = NAMES.filter((name) => seen[name] !== now[name]);
  const text = (name: Name) => (name === "sample_by" ? columnsOf(now[name]).join(", ") : now[name]);
  return changed.map((name) => `${name}=${visible(text(name)) || "default"}`).join(", ");
}

/** Of the units of sizes, each a thousand times, or 1,024 times, the one before. */
export const PREFIXES = "kmgtp";

/** The bytes, exactly, in the unit that takes the fewest digits: `2GB`, `512MiB`, `1234567`. */
export function spellBytes(value: number): string {
  let best = { amount: value, unit: "" };
  [...PREFIXES].forEach((prefix, at) => {
    for (const [base, unit] of [
      [1024, `${prefix.toUpperCase()}iB`],
      [1000, `${prefix === "k" ? prefix : prefix.toUpperCase()}B`],
    ] as const) {
      const amount = value / base ** (at + 1);
      if (Number.isInteger(amount) && amount >= 1 && amount < best.amount) best = { amount, unit };
    }
  });
  return `${best.amount}${best.unit}`;
}
