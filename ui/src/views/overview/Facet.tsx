import { Group, Paper, Skeleton, Text, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { Cell, Column } from "../../api/types";
import { change, counted, percent } from "../../base/format";
import { exactInUnit, inUnit, type Unit } from "../../base/units";
import { drawnAs, useAnswer, useAsked } from "../../explore/answers";
import { cellText } from "../../explore/CellText";
import { pointOf, useExplore } from "../../explore/context";
import { pickOf, toggleGroup } from "../../query/edit";
import { isAdditive, measureLabel, measureUnit } from "../../query/measure";
import { EVENTS, orderOf } from "../../query/spec";
import { quoteName } from "../../query/sql";
import { withView } from "../../query/viewManifest";
import { ChangeText } from "../table/ChangeText";
import { stepOf } from "../table/MeasureCells";
import { FacetNote } from "./FacetNote";
import { type FacetRow, facetRows, keyOf, looksUnsorted } from "./facetRows";
import { FACET_LOOK, facetSpec } from "./spec";
import { type Totals, useHeldOrder, useWhole } from "./useFacet";

const FACET_VALUES = 6;

/** The top values of a column by the first measure, and how much they changed. */
export function Facet({ column, totals }: { column: Column; totals: Totals }) {
  const { resolved, query, columns, views, zone, identifiers, commit, openMenu } = useExplore();
  const result = useAnswer(facetSpec(resolved, column.name));
  const { partial, error, isFetching } = result;
  const data = partial ?? result.data;
  const measure = useAsked(result, query.measures[0] ?? EVENTS);
  const text = (value: Cell) => cellText(value, column.type, zone, identifiers.has(column.name));
  const additive = isAdditive(measure);
  const order = orderOf(query).change ? "change" : "value";
  // Rows do not move away under the pointer.
  const [isPointedAt, setPointedAt] = useState(false);
  const rows = useHeldOrder(data ? facetRows(data, additive, order) : [], isPointedAt);
  const shown = rows.slice(0, FACET_VALUES);
  const more = rows.length - FACET_VALUES;
  const largest = Math.max(0, ...shown.map((row) => Math.abs(row.difference ?? 0)));
  // Without a total that its parts sum up to, the largest value fills the line.
  const sum = useWhole(data, result.isPlaceholderData || partial !== null, totals(measure));
  const whole = additive && !partial ? sum : null;
  const top = whole ?? Math.max(0, ...shown.map(({ now }) => now ?? 0));
  return (
    <Paper
      withBorder
      p="sm"
      data-testid={`facet-${column.name}`}
      data-busy={isFetching}
      className={drawnAs(result)}
      onPointerEnter={() => setPointedAt(true)}
      onPointerLeave={() => setPointedAt(false)}
    >
      <Group justify="space-between" mb={6} wrap="nowrap">
        <Text size="sm" fw={600} truncate title={column.name}>
          {column.name}
        </Text>
        <UnstyledButton
          fz="xs"
          className="nowrap link"
          onClick={() => commit(toggleGroup(query, column.name, views))}
        >
          Group by
        </UnstyledButton>
      </Group>
      {!data && !error && <Skeleton h={120} />}
      {shown.map((row) => (
        <FacetValue
          key={keyOf(row)}
          row={row}
          text={text(row.value)}
          measure={measure}
          share={top > 0 ? Math.max(0, (row.now ?? 0) / top) : 0}
          ofWhole={whole !== null}
          moved={query.compare !== "" && largest > 0 ? (row.difference ?? 0) / largest : null}
          onPick={(event) =>
            openMenu({
              label: `${column.name}: ${text(row.value)}`,
              picks: [pickOf(columns, column.name, row.value, column.type)],
              point: pointOf(event),
            })
          }
        />
      ))}
      {more > 0 && (
        <UnstyledButton
          fz="xs"
          className="link"
          px={4}
          onClick={() => commit(withView({ ...query, group: [quoteName(column.name)] }, "table"))}
        >
          + {more >= FACET_LOOK - FACET_VALUES ? "many" : more} more
        </UnstyledButton>
      )}
      {!additive && order === "value" && looksUnsorted(shown) && (
        <Text size="xs" c="dimmed" px={4} mt={2}>
          Ranked by what is certain: few rows come later
        </Text>
      )}
      <FacetNote result={result} about={column.name} ofValues />
    </Paper>
  );
}

function FacetValue(props: {
  row: FacetRow;
  text: string;
  measure: string;
  share: number;
  /** Whether it is a share of the whole, rather than of the largest value. */
  ofWhole: boolean;
  /** The change as a part of the largest one; null where nothing is compared. */
  moved: number | null;
  onPick: (event: React.MouseEvent) => void;
}) {
  const { row, text, measure, share, ofWhole, moved, onPick } = props;
  const { columns } = useExplore();
  const unit = measureUnit(measure, columns);
  const { now, before, few } = row;
  const isNew = moved !== null && before === null && now !== null;
  return (
    <button
      type="button"
      className={few ? "facet numbers mantine-focus-auto few" : "facet numbers mantine-focus-auto"}
      onClick={onPick}
      title={titleOf(row, text, measure, unit, moved !== null)}
    >
      <span className="bar" style={{ width: `${Math.min(1, share) * 100}%` }} />
      <span className="name">{text}</span>
      {ofWhole && moved === null && <span className="faint">{percent(share)}</span>}
      <span>{now === null ? "–" : inUnit(now, unit)}</span>
      {moved !== null && (
        <>
          <span className="facet-change">
            <ChangeText
              now={now}
              before={before}
              few={few}
              text={isNew ? "new" : change(now, before, stepOf(measure))}
            />
          </span>
          <span className="diverging" aria-hidden="true">
            <span
              data-direction={moved > 0 ? "up" : "down"}
              style={{ width: `${Math.abs(moved) * 50}%` }}
            />
          </span>
        </>
      )}
    </button>
  );
}

function titleOf(
  row: FacetRow,
  text: string,
  measure: string,
  unit: Unit | null,
  compared: boolean,
) {
  const { now, before, interval, samples, few } = row;
  const said = [
    `${text}: ${now === null ? "no" : exactInUnit(now, unit)} ${measureLabel(measure)}`,
  ];
  if (interval && interval.high > interval.low) {
    said.push(`95 % confidence: ${inUnit(interval.low, unit)} to ${inUnit(interval.high, unit)}`);
  }
  if (compared) said.push(`before: ${before === null ? "none" : exactInUnit(before, unit)}`);
  said.push(counted(samples, "row") + (few ? ", too few to rely on" : ""));
  return said.join("\n");
}
