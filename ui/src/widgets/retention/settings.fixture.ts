// Settings as the server returns them, for tests.

import type { SetSettings, Settings } from "../../api/types";

/** A table of 1,000 rows with these settings, the rest being the default. */
export function settingsFixture(settings: SetSettings): Settings {
  return {
    table: "requests",
    exists: true,
    version: 3,
    settings,
    effective: {
      age: "30d",
      age_seconds: 30 * 86_400,
      archive: settings.archive === true,
      bytes: 2 ** 30,
      cold_after: "none",
      cold_after_seconds: null,
      sample_after: "none",
      sample_after_seconds: null,
      sample_by: [],
      sample_keep: "1/10",
      sample_key: null,
      sample_least: 1,
      storage: "memory",
      time_column: "time",
      units: {},
    },
    bytes_default: 2 ** 30,
    rows: 1000,
    block_bytes: 4 * 2 ** 20,
    next_expiry: null,
    archive_place: null,
    notes: [],
  };
}
