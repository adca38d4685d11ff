import { ActionIcon, Table } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Fragment, memo, useCallback, useMemo, useRef, useState } from "react";
import type { Answer, Cell, Type } from "../../api/types";
import { count, visible } from "../../base/format";
import { CellView, cellText } from "../../explore/CellText";
import { pointOf, useExplore } from "../../explore/context";
import { pickOf } from "../../query/edit";
import type { Query } from "../../query/query";
import { optionColumns, optionOf } from "../../query/viewManifest";
import { FIELDS, fieldNames } from "./options";
import { RowTools } from "./RowTools";
import { chosenPlaces, columnOrder, drawnRows, MOST_COLUMNS } from "./sampleTable";

/** The rows that are read, by their keys, and the query that they answer. */
interface Opened {
  readonly of: Query;
  readonly rows: ReadonlyMap<string, Cell[]>;
}

const NONE: ReadonlyMap<string, Cell[]> = new Map();

/**
 * Raw rows as a table; each opens to all that it holds, and stays open while newer ones come.
 * Its cells are plain elements: there are thousands of them.
 */
export const SampleRows = memo(function SampleRows(props: { answer: Answer; most?: number }) {
  const { answer, most = 1000 } = props;
  const { query, views } = useExplore();
  const [open, setOpen] = useState<Opened>({ of: query, rows: NONE });
  const order = useRef<{ of: Query; names: string[] }>({ of: query, names: [] });
  const places = useMemo(() => {
    const before = order.current.of === query ? order.current.names : [];
    const found = columnOrder(answer, query, before, optionColumns(query, views));
    order.current = { of: query, names: found.map((at) => answer.columns[at]?.name ?? "") };
    return found;
  }, [answer, query, views]);
  const kept = open.of === query ? open.rows : NONE;
  const rows = useMemo(() => drawnRows(answer, most, kept), [answer, most, kept]);
  const fields = optionOf(query, FIELDS);
  const shown = useMemo(
    () => chosenPlaces(answer, fieldNames(fields), places).slice(0, MOST_COLUMNS),
    [answer, fields, places],
  );
  const toggle = useCallback(
    (key: string, row: Cell[]) =>
      setOpen((before) => {
        const next = new Map(before.rows);
        if (!next.delete(key)) next.set(key, row);
        return { of: query, rows: next };
      }),
    [query],
  );
  const more = fields === "" ? places.length - shown.length : 0;
  return (
    <Table.ScrollContainer minWidth={300} type="native">
      <Table className="samples numbers" fz="xs" highlightOnHover stickyHeader>
        <Table.Thead>
          <tr>
            <th aria-label="Details" />
            {shown.map((at) => {
              const { name, type } = columnAt(answer, at);
              return (
                <th key={at} className={type === "number" ? "cell right" : "cell"} title={name}>
                  {visible(name)}
                </th>
              );
            })}
            {more > 0 && (
              <th className="nowrap faint">and {count(more)} more in the row details</th>
            )}
          </tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, id, row }) => (
            <Fragment key={id}>
              <SampleRow
                rowKey={key}
                row={row}
                answer={answer}
                places={shown}
                open={open.rows.has(key)}
                onToggle={toggle}
              />
              {open.rows.has(key) && (
                <tr className="opened">
                  <td colSpan={shown.length + 1}>
                    <SampleDetail row={row} answer={answer} places={places} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
});

const SampleRow = memo(function SampleRow(props: {
  rowKey: string;
  row: Cell[];
  answer: Answer;
  places: readonly number[];
  open: boolean;
  onToggle: (key: string, row: Cell[]) => void;
}) {
  const { rowKey, row, answer, places, open, onToggle } = props;
  const { zone, query, identifiers } = useExplore();
  const openCell = useCellMenu(answer);
  return (
    <Table.Tr>
      <td>
        <ActionIcon
          size="xs"
          variant="subtle"
          color="gray"
          onClick={() => onToggle(rowKey, row)}
          aria-expanded={open}
          aria-label="Row details"
        >
          {open ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </ActionIcon>
      </td>
      {places.map((at) => {
        const { name, type } = columnAt(answer, at);
        const cell = row[at] ?? null;
        const isName = identifiers.has(name);
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the row's detail has each cell as a button
          <td
            key={at}
            className={type === "number" ? "cell right" : "cell"}
            title={cell === null ? undefined : cellText(cell, type, zone, isName)}
            onClick={(event) => openCell(at, cell, event)}
          >
            <CellView {...{ cell, type, zone, isName }} search={query.search} />
          </td>
        );
      })}
    </Table.Tr>
  );
});

/** All fields of one row, one under the other; each opens the menu. */
function SampleDetail(props: { row: Cell[]; answer: Answer; places: readonly number[] }) {
  const { row, answer, places } = props;
  const { zone, query, identifiers } = useExplore();
  const openCell = useCellMenu(answer);
  return (
    <div className="detail">
      <RowTools row={row} answer={answer} />
      {places
        .filter((at) => row[at] !== null)
        .map((at) => {
          const { name, type } = columnAt(answer, at);
          const cell = row[at] ?? null;
          return (
            <Fragment key={at}>
              <span className="field">{name}</span>
              <button
                type="button"
                className="value plain"
                onClick={(event) => openCell(at, cell, event)}
              >
                <CellView
                  {...{ cell, type, zone }}
                  isName={identifiers.has(name)}
                  search={query.search}
                  all
                />
              </button>
            </Fragment>
          );
        })}
    </div>
  );
}

const columnAt = (answer: Answer, at: number) =>
  answer.columns[at] ?? { name: "", type: "null" as Type };

function useCellMenu(answer: Answer) {
  const { openMenu, columns, zone, identifiers } = useExplore();
  return (at: number, cell: Cell, event: React.MouseEvent) => {
    const { name, type } = columnAt(answer, at);
    const label = `${name}: ${cellText(cell, type, zone, identifiers.has(name))}`;
    openMenu({ label, picks: [pickOf(columns, name, cell, type)], point: pointOf(event) });
  };
}
