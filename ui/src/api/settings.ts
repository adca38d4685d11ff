// The settings of a table, as the server has them.

import type { SetSettings, Settings } from "./types";

/** What a table's settings are kept under. */
export const settingsKey = (table: string) => ["settings", table];

/**
 * What is set. Before anything is, a table of old rows is of any age all the same; that has to be
 * set along with the first thing that is, or the default would drop them.
 */
export function explicitSettings({ version, settings, effective }: Settings): SetSettings {
  const anyAge = version === 0 && effective.age === "none";
  return anyAge ? { age: "none", ...settings } : settings;
}
