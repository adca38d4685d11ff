import { OTHER_COLOUR, strokesOf } from "../../base/colours";
import type { Point } from "../../charts/echart-tip";
import type { Mark, Measured } from "../../charts/marks";
import { cellText } from "../../explore/CellText";
import { markOf, useExplore } from "../../explore/context";
import { type PickedValue, picksOf } from "../../query/edit";
import { isAdditive, isEstimated, measureLabel, measureUnit } from "../../query/measure";
import { type GroupRow, type Groups, restOf } from "./groups";

/** Groups as marks of a chart. */
export interface GroupMarks {
  readonly marks: readonly Mark[];
  readonly measured: Measured;
  /** The texts of a group's keys. */
  readonly textsOf: (row: GroupRow) => string[];
  readonly picksOfRow: (row: GroupRow) => PickedValue[];
  /** Opens the menu of a mark. `shown` are the keys of those that the others are beside. */
  readonly press: (mark: Mark, point: Point, shown?: readonly string[]) => void;
}

const OTHER = "other";

/** What the groups of an answer are drawn and chosen as. `at` is the place of the measure. */
export function useGroupMarks(groups: Groups, group: readonly string[], at: number): GroupMarks {
  const { query, columns, zone, identifiers, openMenu } = useExplore();
  const textsOf = (row: GroupRow) =>
    row.keys.map((cell, place) => {
      const name = groups.keyNames[place] ?? "";
      return cellText(cell, groups.keyTypes[place] ?? "string", zone, identifiers.has(name));
    });
  const picksOfRow = (row: GroupRow) => picksOf(group, row.keys, groups.keyTypes, columns);
  const measure = groups.aggregates[at] ?? "";
  const keys = groups.rows.map(({ keys: cells }) => JSON.stringify(cells));
  // The largest share no colour, whatever their order.
  const strokes = strokesOf([...keys.slice(0, 10).sort(), ...keys.slice(10)]);
  const marks: Mark[] = groups.rows.map((row, place) => ({
    key: keys[place] ?? "",
    label: textsOf(row).join(" · "),
    value: row.values[at]?.now ?? null,
    before: row.values[at]?.before ?? null,
    colour: strokes.get(keys[place] ?? "")?.colour ?? OTHER_COLOUR,
    samples: row.samples,
    isOther: false,
  }));
  const rest = restOf(groups, at);
  if (rest && (rest.now ?? 0) > 0) {
    marks.push({
      key: OTHER,
      label: "Other",
      value: rest.now,
      before: rest.before,
      colour: OTHER_COLOUR,
      samples: 0,
      isOther: true,
    });
  }
  const additive = isAdditive(measure);
  const rowOf = new Map(groups.rows.map((row, place) => [keys[place], row]));
  return {
    marks,
    measured: {
      label: measureLabel(measure),
      unit: measureUnit(measure, columns),
      additive,
      estimated: isEstimated(measure),
      shift: groups.compared ? query.compare : "",
      whole: additive ? (groups.total?.values[at]?.now ?? null) : null,
    },
    textsOf,
    picksOfRow,
    press: (mark, point, shown = keys) => {
      const row = mark.isOther ? undefined : rowOf.get(mark.key);
      const beside = shown.flatMap((key) => rowOf.get(key) ?? []);
      const stands = row
        ? { picks: picksOfRow(row) }
        : markOf({ picks: [], others: beside.map(picksOfRow) });
      openMenu({ ...stands, label: mark.label, point });
    },
  };
}
