import { Checkbox, Table, UnstyledButton } from "@mantine/core";
import { OTHER_COLOUR, type Stroke } from "../../base/colours";
import { change, SKETCH_STEP } from "../../base/format";
import { exactInUnit, inUnit, type Unit } from "../../base/units";
import type { Series, TimeSeries } from "../../charts/time-series/data";
import { chartStrokes } from "../../charts/time-series/data";
import { markOf, pointOf, useExplore } from "../../explore/context";
import { ChangeText } from "../table/ChangeText";
import type { Whole } from "./wholeRange";

/** The legend that is worth reading: each series with its total, its ends, and what it was before. */
export function SeriesTable(props: {
  chart: TimeSeries;
  /** Of a measure that does not add up: what each series comes to over the whole range. */
  wholes: ReadonlyMap<string, Whole> | null;
  hidden: ReadonlySet<string>;
  onHide: (hidden: ReadonlySet<string>) => void;
  onHighlight: (key: string | null) => void;
}) {
  const { chart, wholes, hidden, onHide, onHighlight } = props;
  const strokes = chartStrokes(chart);
  const compared = chart.series.some((series) => series.before !== null);
  const { additive } = chart;
  // The ends of a single bucket are both its value.
  const bounded = chart.starts.length > 1;
  const toggle = (key: string, alone: boolean) => {
    const others = chart.series.map((series) => series.key).filter((it) => it !== key);
    if (alone) {
      const already = others.length > 0 && others.every((it) => hidden.has(it)) && !hidden.has(key);
      return onHide(new Set(already ? [] : others));
    }
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    onHide(next);
  };
  return (
    <Table.ScrollContainer minWidth={300} type="native" mt="xs">
      <Table
        className="legend numbers"
        fz="xs"
        verticalSpacing={3}
        highlightOnHover
        onMouseLeave={() => onHighlight(null)}
        onBlur={() => onHighlight(null)}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th>series</Table.Th>
            {additive && <Table.Th ta="right">total</Table.Th>}
            {!additive && <Table.Th ta="right">whole range</Table.Th>}
            {compared && <Table.Th ta="right">before</Table.Th>}
            {compared && <Table.Th ta="right">change</Table.Th>}
            {!additive && <Table.Th ta="right">last</Table.Th>}
            {bounded && <Table.Th ta="right">min</Table.Th>}
            {bounded && <Table.Th ta="right">max</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {chart.series.map((series) => (
            <SeriesLine
              key={series.key}
              series={series}
              stroke={strokes.get(series.key) ?? { colour: OTHER_COLOUR, dashes: null }}
              shown={!hidden.has(series.key)}
              additive={additive}
              whole={wholes?.get(series.key) ?? null}
              unit={chart.unit}
              compared={compared}
              bounded={bounded}
              step={chart.estimated ? SKETCH_STEP : 0}
              onToggle={(alone) => toggle(series.key, alone)}
              onHighlight={() => onHighlight(series.key)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function SeriesLine(props: {
  series: Series;
  stroke: Stroke;
  shown: boolean;
  additive: boolean;
  whole: Whole | null;
  unit: Unit | null;
  compared: boolean;
  /** Whether there are several buckets: then the least and the largest values are shown. */
  bounded: boolean;
  /** Changes below this are within the error of the estimate. */
  step: number;
  onToggle: (alone: boolean) => void;
  onHighlight: () => void;
}) {
  const { series, stroke, shown, additive, whole, unit, compared, bounded, step } = props;
  const { onToggle, onHighlight } = props;
  const { openMenu } = useExplore();
  const now = additive ? series.total : (whole?.now ?? null);
  const before = additive ? series.totalBefore : (whole?.before ?? null);
  return (
    <Table.Tr onMouseEnter={onHighlight} onFocus={onHighlight} className={shown ? "" : "few"}>
      <Table.Td className="cell">
        <span className="entry">
          <Checkbox
            size="xs"
            color={stroke.colour}
            checked={shown}
            onChange={() => undefined}
            onClick={(event) => onToggle(event.altKey)}
            aria-label={`Draw ${series.label}`}
            title="Alt-click draws this one alone"
          />
          {stroke.dashes && <Swatch stroke={stroke} />}
          <UnstyledButton
            fz="xs"
            className="value"
            title={series.label}
            disabled={series.picks.length === 0 && series.others.length === 0}
            onClick={(event) =>
              openMenu({ ...markOf(series), label: series.label, point: pointOf(event) })
            }
          >
            {series.label}
          </UnstyledButton>
        </span>
      </Table.Td>
      <NumberCell value={now} unit={unit} />
      {compared && <NumberCell value={before} unit={unit} />}
      {compared && (
        <Table.Td ta="right" className="nowrap">
          <ChangeText now={now} before={before} text={change(now, before, step)} />
        </Table.Td>
      )}
      {!additive && <NumberCell value={series.last} unit={unit} />}
      {bounded && <NumberCell value={series.min} unit={unit} />}
      {bounded && <NumberCell value={series.max} unit={unit} />}
    </Table.Tr>
  );
}

/** A piece of a dashed line, for series that share a colour. */
function Swatch({ stroke }: { stroke: Stroke }) {
  return (
    <svg width="26" height="4" aria-hidden="true" className="swatch">
      <line
        x2="26"
        y1="2"
        y2="2"
        stroke={stroke.colour}
        strokeWidth="2"
        strokeDasharray={stroke.dashes?.join(" ")}
      />
    </svg>
  );
}

function NumberCell({ value, unit }: { value: number | null; unit: Unit | null }) {
  return (
    <Table.Td
      ta="right"
      className="nowrap"
      title={value === null ? "none" : exactInUnit(value, unit)}
    >
      {value === null ? "–" : inUnit(value, unit)}
    </Table.Td>
  );
}
