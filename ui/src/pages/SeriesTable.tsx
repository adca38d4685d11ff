import { Checkbox, Table, UnstyledButton } from "@mantine/core";
import { change, exact, short } from "../base/format";
import type { Series, TimeSeries } from "../charts/time-series/data";
import { chartColours } from "../charts/time-series/data";
import { pointOf, useDive } from "./dive";

/** The legend that is worth reading: each series with its total, its ends, and what it was before. */
export function SeriesTable(props: {
  chart: TimeSeries;
  hidden: ReadonlySet<string>;
  onHide: (hidden: ReadonlySet<string>) => void;
  onHighlight: (key: string | null) => void;
}) {
  const { chart, hidden, onHide, onHighlight } = props;
  const colours = chartColours(chart);
  const compared = chart.series.some((series) => series.before !== null);
  const additive = chart.series.some((series) => series.total !== null);
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
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th>series</Table.Th>
            {additive && <Table.Th ta="right">total</Table.Th>}
            {!additive && <Table.Th ta="right">last</Table.Th>}
            {compared && <Table.Th ta="right">before</Table.Th>}
            {compared && <Table.Th ta="right">change</Table.Th>}
            <Table.Th ta="right">smallest</Table.Th>
            <Table.Th ta="right">largest</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {chart.series.map((series) => (
            <SeriesLine
              key={series.key}
              series={series}
              colour={colours.get(series.key) ?? ""}
              shown={!hidden.has(series.key)}
              additive={additive}
              compared={compared}
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
  colour: string;
  shown: boolean;
  additive: boolean;
  compared: boolean;
  onToggle: (alone: boolean) => void;
  onHighlight: () => void;
}) {
  const { series, colour, shown, additive, compared, onToggle, onHighlight } = props;
  const { openMenu } = useDive();
  const now = additive ? series.total : series.last;
  const before = additive ? series.totalBefore : series.lastBefore;
  return (
    <Table.Tr onMouseEnter={onHighlight} className={shown ? "" : "few"}>
      <Table.Td className="cell">
        <span className="entry">
          <Checkbox
            size="xs"
            color={colour}
            checked={shown}
            onChange={() => undefined}
            onClick={(event) => onToggle(event.altKey)}
            aria-label={`Draw ${series.label}`}
            title="Alt-click draws this one alone"
          />
          <UnstyledButton
            fz="xs"
            className="value"
            title={series.label}
            disabled={series.picks.length === 0}
            onClick={(event) =>
              openMenu({ label: series.label, picks: series.picks, point: pointOf(event) })
            }
          >
            {series.label}
          </UnstyledButton>
        </span>
      </Table.Td>
      <NumberCell value={now} />
      {compared && <NumberCell value={before} />}
      {compared && <Table.Td ta="right">{change(now, before) ?? "–"}</Table.Td>}
      <NumberCell value={series.min} />
      <NumberCell value={series.max} />
    </Table.Tr>
  );
}

function NumberCell({ value }: { value: number | null }) {
  return (
    <Table.Td ta="right" title={value === null ? "none" : exact(value)}>
      {value === null ? "–" : short(value)}
    </Table.Td>
  );
}
