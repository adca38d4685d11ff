import { useCallback, useMemo, useState } from "react";
import type { Zone } from "../../base/zone";
import type { Range } from "../../query/time";
import { type ChartTheme, EChart, useChartTheme, useChartWidth } from "../echart";
import styles from "../echart.module.css";
import { Bins, type Hover, type Selection } from "../echart-bins";
import type { Point } from "../echart-tip";
import type { Series, TimeSeries } from "./data";
import type { TimeMark } from "./markLines";
import { type Drawn, heightOf, largest, nearestTo, type Picture, pictureOf } from "./option";
import { bucketText, SeriesTip, sortedAt, spokenBucket } from "./SeriesTip";
import { lengthWords } from "./words";

/** What was clicked: a series, if one was near, and its bucket. */
export interface Place {
  readonly series: Series | null;
  readonly range: Range;
  readonly label: string;
}

interface TimeSeriesChartProps {
  readonly series: TimeSeries;
  readonly zone: Zone;
  readonly height: number;
  /** Keys of series that are not drawn. */
  readonly hidden: ReadonlySet<string>;
  /** The key of the series that stands out. */
  readonly highlighted: string | null;
  /** Whether heights are logarithms. */
  readonly log?: boolean;
  /** The series that the scale reaches over; left out, those that are drawn. */
  readonly scaleBy?: readonly Series[];
  /** Drawn as vertical lines. */
  readonly marks?: readonly TimeMark[];
  /** A drag selected a time. */
  readonly onBrush: (range: Range, point: Point) => void;
  /** A click on a line, or on a bucket. `point` is in the window. */
  readonly onPick: (place: Place, point: Point) => void;
}

/** Lines over time. A drag selects a part of the time, a click a point of a line. */
export function TimeSeriesChart(props: TimeSeriesChartProps) {
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const theme = useChartTheme();
  return (
    <div ref={ref} className={styles.frame} style={{ height: props.height }}>
      {theme && width > 0 && <SizedChart {...props} theme={theme} width={width} />}
    </div>
  );
}

/** How far from a line it is still meant, in pixels. */
const NEAR = 24;
const DOTS = 12;

const NO_MARKS: readonly TimeMark[] = [];

function SizedChart(props: TimeSeriesChartProps & { theme: ChartTheme; width: number }) {
  const { series: chart, zone, hidden, highlighted, theme, width, height } = props;
  const { log = false, scaleBy = chart.series, marks = NO_MARKS } = props;
  const isScaled = props.scaleBy !== undefined;
  const picture = useMemo(() => {
    const look = { theme, zone, width, height, hidden, highlighted, log, marks };
    return pictureOf(chart, isScaled ? { ...look, scaleBy } : look);
  }, [chart, theme, zone, width, height, hidden, highlighted, log, marks, isScaled, scaleBy]);
  const [hover, setHover] = useState<Hover | null>(null);
  const { plot, drawn } = picture;
  const bins = chart.starts.length;
  const each = plot.width / bins;
  const edges = useCallback((bin: number) => [bin * each, (bin + 1) * each] as const, [each]);
  // A new answer may have fewer buckets than the one that was pointed at.
  const over = hover && hover.bin < bins ? hover : null;
  const near = over && meantBy(over, chart, picture, highlighted);
  const select = ({ first, last }: Selection, at: Point) => {
    setHover(null);
    props.onBrush(timeOf(chart, first, last), at);
  };
  const click = (at: Hover) => {
    const meant = meantBy(at, chart, picture, highlighted);
    const when = bucketText(chart, at.bin, zone);
    const named = meant && (meant.series.picks.length > 0 || meant.series.isOther);
    setHover(null);
    props.onPick(
      {
        series: meant?.series ?? null,
        range: timeOf(chart, at.bin, at.bin),
        label: named ? `${meant.series.label}, ${when}` : when,
      },
      at.client,
    );
  };
  return (
    <>
      <EChart option={picture.option} width={width} height={height} label={summary(chart, zone)} />
      <Bins
        plot={plot}
        bins={bins}
        binAt={(x) => Math.floor(x / each)}
        edges={edges}
        hover={over}
        onHover={setHover}
        onSelect={select}
        onClick={click}
        lengthText={({ first, last }) => {
          const { from, to } = timeOf(chart, first, last);
          return lengthWords(to - from);
        }}
        binText={(bin) => spokenBucket(chart, drawn, bin, zone)}
        label={`${chart.label}, by time`}
        cursor={near ? "pointer" : "crosshair"}
      >
        {over && <Marks chart={chart} picture={picture} bin={over.bin} near={near} />}
      </Bins>
      {over && <SeriesTip {...{ chart, drawn, near, zone }} bin={over.bin} at={over.client} />}
    </>
  );
}

/** The series that a pointer means: by keys the one that stands out, or the only one. */
function meantBy(
  { bin, x, y }: Hover,
  chart: TimeSeries,
  picture: Picture,
  highlighted: string | null,
): Drawn | null {
  if (y === null) {
    const { drawn } = picture;
    const chosen = drawn.find(({ series }) => series.key === highlighted);
    return chosen ?? (drawn.length === 1 ? (drawn[0] ?? null) : null);
  }
  return nearestTo(chart, picture, { bin, x, y }, NEAR);
}

/** From where a bucket begins to where another ends, within the asked time. */
function timeOf(chart: TimeSeries, first: number, last: number): Range {
  const from = Math.max(chart.starts[first] ?? 0, chart.range.from);
  const end = chart.starts[last + 1] ?? (chart.starts[last] ?? from) + chart.step;
  return { from, to: Math.min(end, Math.max(chart.range.to, from + 1)) };
}

/** The line through the bucket that is pointed at, and a dot on each series. */
function Marks(props: { chart: TimeSeries; picture: Picture; bin: number; near: Drawn | null }) {
  const { chart, picture, bin, near } = props;
  const left = ((bin + 0.5) * picture.plot.width) / chart.starts.length;
  const shown = sortedAt(picture.drawn, bin).slice(0, DOTS);
  if (near && !shown.includes(near)) shown.push(near);
  return (
    <>
      <div className={styles.cross} style={{ left }} />
      {shown.map((one) => {
        const value = one.series.values[bin] ?? null;
        if (value === null) return null;
        const style = { left, top: heightOf(value, picture), background: one.colour };
        const isNear = one === near ? { "data-near": true } : {};
        return <div key={one.series.key} className={styles.dot} style={style} {...isNear} />;
      })}
    </>
  );
}

/** The chart in words. */
function summary(chart: TimeSeries, zone: Zone): string {
  const from = bucketText(chart, 0, zone);
  const to = bucketText(chart, chart.starts.length - 1, zone);
  const lines = `${chart.series.length} ${chart.series.length === 1 ? "line" : "lines"}`;
  return `${chart.label} over time: ${lines}, from ${from} to ${to}${largest(chart)}`;
}
