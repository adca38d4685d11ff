import { useMemo, useState } from "react";
import { change, count, exactly, percent, short } from "../../base/format";
import type { Unit } from "../../base/units";
import { timeText, type Zone } from "../../base/zone";
import { type ChartTheme, EChart, useChartTheme, useChartWidth } from "../echart";
import styles from "../echart.module.css";
import { Bins, type Hover, type Selection } from "../echart-bins";
import { type Point, Tip } from "../echart-tip";
import type { Bar, Spread } from "./data";
import { BEFORE_COLOUR, drawnEnds, NOW_COLOUR, pictureOf, placeOf, type ValueMark } from "./option";

export type { ValueMark } from "./option";

interface DistributionChartProps {
  readonly data: Spread;
  readonly marks: readonly ValueMark[];
  readonly zone?: Zone;
  readonly height: number;
  /** Whether the values are moments in milliseconds. */
  readonly isTime?: boolean;
  /** The unit of the values; none if left out. */
  readonly unit?: Unit | null;
  /**
   * Bars that were clicked or dragged over: `from` is included, `to` only where it is `closed`,
   * which the last bar is.
   */
  readonly onPick: (range: { from: number; to: number; closed: boolean }, point: Point) => void;
}

/** Bars of a histogram; compared ones stand on both sides, as shares of their own totals. */
export function DistributionChart(props: DistributionChartProps) {
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const theme = useChartTheme();
  const { data, height } = props;
  return (
    <div>
      <div ref={ref} className={styles.frame} style={{ height }}>
        {data.bars.length === 0 && <div className={styles.nothing}>No values to draw</div>}
        {data.bars.length > 0 && theme && width > 0 && (
          <SizedChart {...props} theme={theme} width={width} />
        )}
      </div>
      {data.compared && (
        <div className={styles.key}>
          <span>
            <i style={{ background: NOW_COLOUR }} />
            now, {short(data.total)}
          </span>
          <span>
            <i style={{ background: BEFORE_COLOUR }} />
            before, {short(data.totalBefore)}
          </span>
        </div>
      )}
    </div>
  );
}

function SizedChart(props: DistributionChartProps & { theme: ChartTheme; width: number }) {
  const { data, marks, zone = "UTC", height, isTime = false, unit = null, theme, width } = props;
  const picture = useMemo(
    () => pictureOf(data, { theme, zone, isTime, unit, width, height, marks }),
    [data, theme, zone, isTime, unit, width, height, marks],
  );
  const [hover, setHover] = useState<Hover | null>(null);
  const { plot, from, to } = picture;
  const bins = data.bars.length;
  const bar = hover ? data.bars[hover.bin] : undefined;
  const along = placeOf(data);
  const place = (value: number) => ((along(value) - from) / (to - from)) * plot.width;
  const edges = (bin: number) => {
    const one = data.bars[bin];
    if (!one) return [0, 0] as const;
    const [left, right] = drawnEnds(one, data.bars);
    return [place(left), place(right)] as const;
  };
  const text = (value: number) => (isTime ? timeText(value, zone) : exactly(value));
  const boundsOf = ({ first, last }: Selection) => ({
    from: data.bars[first]?.from ?? 0,
    to: data.bars[last]?.to ?? 0,
    closed: last === bins - 1 && !data.halfOpen,
  });
  const pick = (selection: Selection, point: Point) => {
    setHover(null);
    if (bins > 0) props.onPick(boundsOf(selection), point);
  };
  const selectionText = (selection: Selection) => {
    const { from, to } = boundsOf(selection);
    const chosen = data.bars.slice(selection.first, selection.last + 1);
    const share = chosen.reduce((sum, it) => sum + it.now, 0) / Math.max(1, data.total);
    return `${text(from)} – ${text(to)} · ${percent(share)}`;
  };
  return (
    <>
      <EChart
        option={picture.option}
        width={width}
        height={height}
        label={summary(data, marks, text)}
      />
      <Bins
        plot={plot}
        bins={bins}
        binAt={(x) => binAt(data, from + (x / plot.width) * (to - from))}
        edges={edges}
        hover={bar ? hover : null}
        onHover={setHover}
        onSelect={pick}
        onClick={({ bin, client }) => pick({ first: bin, last: bin }, client)}
        lengthText={selectionText}
        binText={(bin) => spoken(data.bars[bin], text)}
        label="Values, by size"
        cursor={bar && bar.now + bar.before > 0 ? "pointer" : "crosshair"}
      >
        {hover && bar && <Shade edges={edges(hover.bin)} />}
      </Bins>
      {hover && bar && <BarTip data={data} bar={bar} at={hover.client} text={text} />}
    </>
  );
}

function Shade({ edges: [left, right] }: { edges: readonly [number, number] }) {
  return <div className={styles.hover} style={{ left, width: Math.max(1, right - left) }} />;
}

/** The bar that a place of the axis falls into; the last one for all beyond. */
function binAt(data: Spread, at: number): number {
  const { bars } = data;
  const place = placeOf(data);
  const bin = bars.findIndex((bar) => at < place(drawnEnds(bar, bars)[1]));
  return bin < 0 ? bars.length - 1 : bin;
}

function BarTip(props: { data: Spread; bar: Bar; at: Point; text: (value: number) => string }) {
  const { data, bar, at, text } = props;
  const now = bar.now / Math.max(1, data.total);
  const before = bar.before / Math.max(1, data.totalBefore);
  const lines = [
    { key: "now", colour: NOW_COLOUR, name: "now", values: [count(bar.now), percent(now)] },
    {
      key: "before",
      colour: BEFORE_COLOUR,
      name: "before",
      values: [count(bar.before), percent(before)],
    },
  ];
  const shift = change(now, before);
  return (
    <Tip
      at={at}
      head={barText(bar, text)}
      lines={
        data.compared
          ? lines
          : [
              {
                key: "now",
                colour: NOW_COLOUR,
                name: "values",
                values: [count(bar.now), percent(now)],
              },
            ]
      }
      {...(data.compared && shift ? { foot: `share ${shift}` } : {})}
    />
  );
}

/** A whole number stands in the middle of its bar. */
function barText(bar: Bar, text: (value: number) => string): string {
  const isWhole = bar.to - bar.from === 1 && Math.abs(bar.from % 1) === 0.5;
  if (bar.from === bar.to || isWhole) return text((bar.from + bar.to) / 2);
  return `${text(bar.from)} – ${text(bar.to)}`;
}

function spoken(bar: Bar | undefined, text: (value: number) => string): string {
  return bar ? `${text(bar.from)} to ${text(bar.to)}: ${count(bar.now)}` : "nothing";
}

/** The chart in words. */
function summary(data: Spread, marks: readonly ValueMark[], text: (value: number) => string) {
  const [first] = data.bars;
  const last = data.bars.at(-1);
  if (!first || !last) return "Distribution of no values";
  const named = marks.map(({ label, value }) => `${label} ${text(value)}`).join(", ");
  return `Distribution of ${count(data.total)} values from ${text(first.from)} to ${text(last.to)}; ${named}`;
}
