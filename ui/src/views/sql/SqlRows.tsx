import { Stack, Table, Text } from "@mantine/core";
import { memo, useCallback, useMemo, useState } from "react";
import type { Answer, Cell, Type } from "../../api/types";
import { count, visible } from "../../base/format";
import type { Unit } from "../../base/units";
import type { Zone } from "../../base/zone";
import { CellView, cellText, rawText } from "../../explore/CellText";
import {
  type Explore,
  ExploreContext,
  type Mark,
  pointOf,
  useExplore,
} from "../../explore/context";
import { MarkMenu } from "../../explore/MarkMenu";
import { pickOf } from "../../query/edit";
import type { Query } from "../../query/query";
import { optionOf, withView } from "../../query/viewManifest";
import { SQL_TEXT } from "./options";
import { plainColumns } from "./plainColumns";
import { resultText, resultUnit } from "./resultNumbers";

/** More rows are in the answer, but not on the page. */
const ROWS_DRAWN = 1000;

/** A result as a table. Each cell opens a menu; one of a column of the table can be filtered by. */
export function SqlRows({ answer }: { answer: Answer }) {
  const { zone } = useExplore();
  const { columns, rows } = answer;
  const [mark, setMark] = useState<Mark | null>(null);
  const shown = usePlainColumns(answer);
  const markOf = useCellMarks(answer, shown);
  const heads = useHeads(answer, shown);
  const open = useCallback(
    (at: number, cell: Cell, event: React.MouseEvent) =>
      setMark({ ...markOf(at, cell), point: pointOf(event) }),
    [markOf],
  );
  if (rows.length === 0) {
    return (
      <Text size="sm" c="dimmed" role="note">
        The result has no rows.
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <Table.ScrollContainer minWidth={300} type="native">
        <Table className="samples numbers" fz="xs" highlightOnHover stickyHeader>
          <Table.Thead>
            <tr>
              {columns.map(({ name, type }) => (
                <th key={name} className={type === "number" ? "cell right" : "cell"} title={name}>
                  {visible(name)}
                </th>
              ))}
            </tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, ROWS_DRAWN).map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result have no other key
              <SqlRow key={at} {...{ row, heads, zone, open }} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {rows.length > ROWS_DRAWN && (
        <Text size="xs" c="dimmed">
          The first {count(ROWS_DRAWN)} of {count(rows.length)} rows
        </Text>
      )}
      {mark && <CellMenu mark={mark} onClose={() => setMark(null)} />}
    </Stack>
  );
}

const SqlRow = memo(function SqlRow(props: {
  row: Cell[];
  heads: readonly Head[];
  zone: Zone;
  open: (at: number, cell: Cell, event: React.MouseEvent) => void;
}) {
  const { row, heads, zone, open } = props;
  return (
    <Table.Tr>
      {heads.map(({ name, type, isName, unit }, at) => {
        const cell = row[at] ?? null;
        const computed = unit === undefined ? null : resultText(cell, unit);
        return (
          <td
            key={name}
            className={type === "number" ? "cell right" : "cell"}
            dir="auto"
            title={cell === null ? undefined : cellText(cell, type, zone, isName)}
          >
            <button
              type="button"
              className="value plain"
              onClick={(event) => open(at, cell, event)}
            >
              {computed ?? <CellView {...{ cell, type, zone, isName }} search="" />}
            </button>
          </td>
        );
      })}
    </Table.Tr>
  );
});

/** A column of a result as it is drawn. */
interface Head {
  readonly name: string;
  readonly type: Type;
  /** Whether its numbers are names of things. */
  readonly isName: boolean;
  /** Of a column that is computed: the unit of its numbers. */
  readonly unit?: Unit | null;
}

function useHeads(answer: Answer, shown: readonly (string | null)[]): readonly Head[] {
  const { columns, identifiers } = useExplore();
  return useMemo(
    () =>
      answer.columns.map(({ name, type }, at) => {
        const isName = identifiers.has(shown[at] ?? name);
        const isComputed = type === "number" && !isName && (shown[at] ?? null) === null;
        return { name, type, isName, ...(isComputed ? { unit: resultUnit(name, columns) } : {}) };
      }),
    [answer.columns, columns, identifiers, shown],
  );
}

/** What the cells of a result stand for: a value of a column, or only a text to copy. */
function useCellMarks(
  answer: Answer,
  shown: readonly (string | null)[],
): (at: number, cell: Cell) => Omit<Mark, "point"> {
  const { columns, zone, identifiers } = useExplore();
  return useCallback(
    (at, cell) => {
      const { name, type } = answer.columns[at] ?? { name: "", type: "null" as Type };
      const column = shown[at] ?? null;
      const isName = column !== null && identifiers.has(column);
      const label = `${name}: ${cellText(cell, type, zone, isName)}`;
      if (column === null) return { label, picks: [], copies: rawText(cell) };
      return { label, picks: [pickOf(columns, column, cell, type)] };
    },
    [answer.columns, columns, identifiers, shown, zone],
  );
}

/** The columns of the table that the columns of a result are. */
function usePlainColumns(answer: Answer): readonly (string | null)[] {
  const { query, columns, table } = useExplore();
  const text = optionOf(query, SQL_TEXT) || (answer.sql ?? "");
  return useMemo(() => {
    const names = new Set(columns.map(({ name }) => name));
    const inResult = answer.columns.map(({ name }) => name);
    return plainColumns(text, table.name, inResult, (name) => names.has(name));
  }, [text, table.name, columns, answer.columns]);
}

/** The menu of a cell. The query panel has no part in the SQL view: its filters show in Samples. */
function CellMenu({ mark, onClose }: { mark: Mark; onClose: () => void }) {
  const explore = useExplore();
  const { commit } = explore;
  const inSamples = useMemo<Explore>(() => {
    const shown = (next: Query) => (next.view.kind === "sql" ? withView(next, "samples") : next);
    return {
      ...explore,
      commit: (next) =>
        commit(typeof next === "function" ? (query) => shown(next(query)) : shown(next)),
    };
  }, [explore, commit]);
  return (
    <ExploreContext.Provider value={inSamples}>
      <MarkMenu key={mark.label} mark={mark} onClose={onClose} />
    </ExploreContext.Provider>
  );
}
