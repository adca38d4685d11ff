import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Table } from "../../api/types";
import { timeText } from "../../base/zone";
import type { TimeMark } from "../../charts/time-series/markLines";
import { useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { tablesQuery } from "../../explore/tableColumns";
import type { Range } from "../../query/time";
import { optionOf } from "../../query/viewManifest";
import { MARKS_MOST, markSource, marksOf, marksSpec } from "./marks";
import { MARKS } from "./options";

interface Marks {
  readonly marks: readonly TimeMark[];
  /** Why there are none, or not all; null where nothing is to be said. */
  readonly problem: string | null;
}

const NO_TABLES: readonly Table[] = [];

/** The tables as the page has loaded them. */
export const useLoadedTables = (): readonly Table[] =>
  useQuery({ ...tablesQuery, enabled: false }).data ?? NO_TABLES;

/** The marks of the query in a range. */
export function useMarks(range: Range): Marks {
  const { query, zone } = useExplore();
  const text = optionOf(query, MARKS);
  const source = useMemo(() => markSource(text), [text]);
  const table = useLoadedTables().find(({ name }) => name === source?.table);
  const { data, error } = useAnswer(marksSpec(source, table, range));
  const isAsked = source !== null && table !== undefined;
  const marks = useMemo(
    () => (isAsked && data && source ? marksOf(data, source, zone) : []),
    [isAsked, data, source, zone],
  );
  if (source && !table) {
    return { marks, problem: `There is no table ${source.table} to take marks from.` };
  }
  if (error) return { marks, problem: `No marks: ${error.body.detail}` };
  const isCut = marks.length >= MARKS_MOST;
  return { marks, problem: isCut ? `Only the first ${MARKS_MOST} marks are drawn.` : null };
}

const LISTED = 6;

/** The marks in words, below the charts. */
export function MarksNote({ marks, problem }: Marks) {
  const { zone } = useExplore();
  if (marks.length === 0 && problem === null) return null;
  const listed = marks
    .slice(0, LISTED)
    .map(({ at, label }) => `${timeText(at, zone).slice(5, 16)} ${label}`);
  const more = marks.length > LISTED ? ` · and ${marks.length - LISTED} more` : "";
  return (
    <Text size="xs" c="dimmed" role="note" className="wrap" data-testid="marks">
      {problem}
      {marks.length > 0 && ` Marks: ${listed.join(" · ")}${more}`}
    </Text>
  );
}
