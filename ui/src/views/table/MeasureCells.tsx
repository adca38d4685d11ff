import { Table } from "@mantine/core";
import { numberOf } from "../../api/client";
import type { Cell, Column } from "../../api/types";
import { change, listText, percent, SKETCH_STEP } from "../../base/format";
import { exactInUnit, inUnit, type Unit } from "../../base/units";
import { isEstimated, measureUnit } from "../../query/measure";
import { ChangeText } from "./ChangeText";

/** The error of a measure: smaller changes are not significant. */
export const stepOf = (measure: string) => (isEstimated(measure) ? SKETCH_STEP : 0);

/** A number in a few characters; a list as its elements. */
export function numberText(cell: Cell, unit: Unit | null): string {
  if (Array.isArray(cell)) return listText(cell);
  const number = numberOf(cell);
  return number === null ? String(cell ?? "–") : inUnit(number, unit);
}

/** The cells of a measure: its number before a bar; when compared, what it was and its change. */
export function MeasureCells(props: {
  measure: string;
  columns: readonly Column[];
  now: Cell;
  before: Cell;
  compared: boolean;
  /** Whether there are rows to compare with. */
  isComparable: boolean;
  top: number;
  few?: boolean;
  /** What all groups come to, if they add up; else null. */
  whole?: number | null;
}) {
  const { measure, columns, now, before, compared, top, few = false, whole = null } = props;
  // Where there are no rows to compare with, nothing is known to be new.
  const isComparable = before !== null || props.isComparable;
  const unit = measureUnit(measure, columns);
  const share = top > 0 ? Math.max(0, (numberOf(now) ?? 0) / top) : 0;
  return (
    <>
      <Table.Td ta="right" className="measured" title={exactText(now, unit)}>
        <div className="bar" style={{ width: `${share * 100}%` }} />
        <span className="nowrap">{numberText(now, unit)}</span>
        {whole !== null && whole > 0 && (
          <span className="share faint">{percent((numberOf(now) ?? 0) / whole)}</span>
        )}
      </Table.Td>
      {compared && (
        <>
          <Table.Td ta="right" c="dimmed" className="nowrap" title={exactText(before, unit)}>
            {numberText(before, unit)}
          </Table.Td>
          <Table.Td
            ta="right"
            className="nowrap"
            title={`${exactText(before, unit)} → ${exactText(now, unit)}`}
          >
            <ChangeText
              now={numberOf(now)}
              before={numberOf(before)}
              text={isComparable ? changeText(now, before, stepOf(measure)) : null}
              few={few}
            />
          </Table.Td>
        </>
      )}
    </>
  );
}

export function exactText(cell: Cell, unit: Unit | null): string {
  if (Array.isArray(cell)) return listText(cell);
  return cell === null ? "none" : exactInUnit(String(cell), unit);
}

function changeText(now: Cell, before: Cell, step: number): string {
  if (before === null) return now === null ? "–" : "new";
  return now === null ? "gone" : (change(numberOf(now), numberOf(before), step) ?? "–");
}
