import { Alert, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/client";
import type { Answer, Settings, Table } from "../../api/types";
import { counted } from "../../base/format";
import type { Zone } from "../../base/zone";
import { isoText } from "../../query/time";
import classes from "./Retention.module.css";
import { deletesSooner, limitsWith, warningsOf } from "./retentionLimits";
import { changedByOthers, type Draft, textsOf } from "./settingsDraft";

/** Warnings before a draft is saved: rows that it deletes, and changes by others. */
export function RetentionWarnings(props: {
  current: Settings;
  table: Table;
  draft: Draft;
  now: number;
  zone: Zone;
}) {
  const { current, table, draft, now, zone } = props;
  const { edits, seen } = draft;
  const warnings = warningsOf(current, edits, now, zone);
  const cut = now - limitsWith(current, edits).age * 1000;
  const others = seen && changedByOthers(seen.texts, textsOf(current));
  return (
    <>
      {seen && seen.version !== current.version && (
        <Alert variant="light" color="blue" p={8} role="alert">
          <Text size="xs">
            The settings were changed by someone else{others && `: ${others}`}. The form shows the
            new settings; your edits are kept and not saved.
          </Text>
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert variant="light" color="orange" p={8} role="note" data-testid="sooner">
          {deletesSooner(current, edits).age && <RowsToDelete table={table} cut={cut} />}
          <Text size="xs">{warnings.join(" ")}</Text>
        </Alert>
      )}
    </>
  );
}

const MINUTE = 60_000;

/** How many rows are older than a moment. */
function RowsToDelete({ table, cut }: { table: Table; cut: number }) {
  const { name, first_time } = table;
  // To the minute, so that it is not asked again and again.
  const to = Math.floor(cut / MINUTE) * MINUTE;
  const some = first_time !== null && Date.parse(first_time) < to;
  const spec = { table: name, from: first_time ?? "", to: isoText(to), aggregates: ["count(*)"] };
  const { data } = useQuery<Answer>({
    queryKey: ["expiring", spec],
    queryFn: ({ signal }) => ask(spec, signal),
    enabled: some,
  });
  const rows = some ? data?.stats.rows_matched : 0;
  if (rows === undefined) return null;
  return (
    <Text size="xs" fw={600}>
      {rows > 0 && <span className={classes.swatch} />}
      {rows === 0 ? "No row is that old yet." : `${counted(rows, "row")} would be deleted.`}
    </Text>
  );
}
