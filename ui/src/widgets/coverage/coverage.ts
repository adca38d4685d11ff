// The rows behind an answer, and the missing rows.

import type {
  Answer,
  Coverage,
  LeafCoverage,
  LeafStatus,
  QueryProgress,
  Table,
} from "../../api/types";
import { counted, percent, short } from "../../base/format";

/** An answer with a smaller share of its rows has a warning. */
const COVERAGE_ENOUGH = 0.995;

/** Stored rows behind an answer, and the events that they represent. */
export interface RowCounts {
  samples: number;
  events: number | null;
}

/** Stored rows and events of an answer, of its present side when it is compared. */
export function countRows(answer: Answer): RowCounts {
  const events = answer.columns.findIndex((column) => column.name === "count(*)");
  const compared = answer.columns[0]?.name === "side";
  if (!answer.samples) return { samples: answer.stats.rows_matched, events: null };
  const total: RowCounts = { samples: 0, events: events < 0 ? null : 0 };
  answer.rows.forEach((row, at) => {
    if (compared && row[0] !== "now") return;
    total.samples += answer.samples?.[at] ?? 0;
    if (total.events !== null) total.events += Number(row[events] ?? 0);
  });
  return total;
}

/** The same of an answer that may lack groups, as after a LIMIT: then all rows that it is of. */
export function countMatched(answer: Answer): RowCounts {
  const counts = countRows(answer);
  const all = answer.stats.rows_matched;
  return counts.samples < all ? { samples: all, events: null } : counts;
}

/** What an answer rests on: its rows, or for how many events a sample of rows stands. */
export function rowsWords({ samples, events }: RowCounts): string {
  const rows = counted(samples, "row");
  if (events === null || Math.round(events) === samples) return rows;
  return `${short(events)} events, estimated from ${rows}`;
}

/** Rows that are missing from an answer. */
function missingRows(coverage: Coverage): number {
  return coverage.rows_expected - coverage.rows_scanned;
}

/** Missing rows that may still be restored: those of leaves that answered without all of their rows. */
export function recoveringRows(coverage: Coverage): number {
  const inTime = coverage.leaves.filter((leaf) =>
    ["answered", "restarting"].includes(leaf.outcome),
  );
  return inTime.reduce((sum, leaf) => sum + leaf.rows_expected - leaf.rows_scanned, 0);
}

/**
 * Whether to repeat a query whose answer lacks rows: the table is being restored, or the previous
 * answer lacked another number of rows (null: there was none).
 */
export function mayRecover(missing: number, before: number | null, waiting: number): boolean {
  return missing > 0 && (waiting > 0 || missing !== before);
}

/** The outcome of a query on a leaf, and the leaf's state unless it is alive. */
export function leafWords({ name, outcome }: LeafCoverage, leaves: readonly LeafStatus[]): string {
  const state = leaves.find((it) => it.name === name)?.state ?? "alive";
  return state === "alive" ? outcome : `${outcome}, ${state}`;
}

/** The percentage of the rows that a query has scanned. */
export function scannedPercent({ rows_scanned, rows_expected }: QueryProgress): number {
  return rows_expected > 0 ? Math.min(100, (rows_scanned / rows_expected) * 100) : 0;
}

/** How far a query has come: rows, and leaves if there are several. */
export function progressWords(progress: QueryProgress): string {
  const { rows_scanned, rows_expected, leaves_answered, leaves_asked } = progress;
  if (leaves_asked === 0) return "waiting";
  const rows = `${short(rows_scanned)} of ${short(rows_expected)} rows`;
  return leaves_asked === 1 ? rows : `${rows}, ${leaves_answered} of ${leaves_asked} leaves so far`;
}

/** How many rows of a table are still to come after a start, and from where; null where none are. */
export function recoveryWords({ waiting_rows: rows, state }: Table): string | null {
  if (rows === 0) return null;
  return `${counted(rows, "row")} ${rows === 1 ? "is" : "are"} being restored after a restart (${state}).`;
}

/** The note above an answer that lacks too many rows; `waiting` rows are being restored. */
export function missingWords(coverage: Coverage, waiting: number): string | null {
  if (coverage.fraction >= COVERAGE_ENOUGH) return null;
  const rows = missingRows(coverage);
  const silent = coverage.leaves.filter((leaf) => leaf.outcome !== "answered");
  const names = silent.slice(0, 5).map((leaf) => `${leaf.name} (${leaf.outcome})`);
  const who = names.length > 0 ? ` No answer from ${names.join(", ")}.` : "";
  const missing = `${counted(rows, "row")} (${percent(1 - coverage.fraction)})`;
  const back =
    waiting > 0 ? " Rows are being restored after a restart; the answer refreshes by itself." : "";
  return `${missing} ${rows === 1 ? "is" : "are"} not in this answer.${who}${back}`;
}
