import { useCallback, useMemo, useState } from "react";
import type { Zone } from "../../base/zone";
import type { Range } from "../../query/time";
import { type ChartTheme, EChart, useChartTheme, useChartWidth } from "../echart";
import styles from "../echart.module.css";
import { Bins, type Hover } from "../echart-bins";
import type { Point } from "../echart-tip";
import type { Series, TimeSeries } from "../time-series/data";
import { bucketText, SeriesTip, spokenBucket } from "../time-series/SeriesTip";
import { lengthWords } from "../time-series/words";
import { areaPicture } from "./option";
import { layerAt } from "./stack";

interface AreaChartProps {
  readonly chart: TimeSeries;
  readonly zone: Zone;
  readonly height: number;
  /** Whether each bucket is filled to the top, so that shares are seen. */
  readonly share: boolean;
  readonly hidden: ReadonlySet<string>;
  readonly highlighted: string | null;
  readonly onBrush: (range: Range, point: Point) => void;
  readonly onPick: (series: Series | null, range: Range, label: string, point: Point) => void;
}

/** Series on top of each other over time. A drag selects a part of the time, a click a layer. */
export function AreaChart(props: AreaChartProps) {
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const theme = useChartTheme();
  return (
    <div ref={ref} className={styles.frame} style={{ height: props.height }}>
      {theme && width > 0 && <SizedChart {...props} theme={theme} width={width} />}
    </div>
  );
}

function SizedChart(props: AreaChartProps & { theme: ChartTheme; width: number }) {
  const { chart, zone, share, hidden, highlighted, theme, width, height } = props;
  const [hover, setHover] = useState<Hover | null>(null);
  const picture = useMemo(
    () => areaPicture(chart, { theme, zone, width, height, hidden, highlighted, share }),
    [chart, theme, zone, width, height, hidden, highlighted, share],
  );
  const { plot, layers, scale, colours } = picture;
  const bins = chart.starts.length;
  const each = plot.width / bins;
  const edges = useCallback((bin: number) => [bin * each, (bin + 1) * each] as const, [each]);
  const drawn = layers.map(({ series }) => ({
    series,
    colour: colours.get(series.key) ?? "",
    dashes: null,
  }));
  const meant = ({ bin, y }: Hover) => {
    if (y === null) return drawn.find(({ series }) => series.key === highlighted) ?? null;
    const layer = layerAt(layers, bin, scale.max * (1 - y / plot.height));
    return drawn.find(({ series }) => series === layer?.series) ?? null;
  };
  const over = hover && hover.bin < bins ? hover : null;
  const near = over && meant(over);
  const timeOf = (first: number, last: number): Range => ({
    from: Math.max(chart.starts[first] ?? 0, chart.range.from),
    to: Math.min(chart.starts[last + 1] ?? (chart.starts[last] ?? 0) + chart.step, chart.range.to),
  });
  const click = (at: Hover) => {
    const series = meant(at)?.series ?? null;
    const when = bucketText(chart, at.bin, zone);
    setHover(null);
    const named = series && (series.picks.length > 0 || series.isOther);
    const label = named ? `${series.label}, ${when}` : when;
    props.onPick(series, timeOf(at.bin, at.bin), label, at.client);
  };
  return (
    <>
      <EChart
        option={picture.option}
        width={width}
        height={height}
        label={`${chart.label} over time, stacked: ${layers.length} layers`}
      />
      <Bins
        plot={plot}
        bins={bins}
        binAt={(x) => Math.floor(x / each)}
        edges={edges}
        hover={over}
        onHover={setHover}
        onSelect={({ first, last }, at) => {
          setHover(null);
          props.onBrush(timeOf(first, last), at);
        }}
        onClick={click}
        lengthText={({ first, last }) => {
          const { from, to } = timeOf(first, last);
          return lengthWords(to - from);
        }}
        binText={(bin) => spokenBucket(chart, drawn, bin, zone)}
        label={`${chart.label}, by time`}
        cursor={near ? "pointer" : "crosshair"}
      >
        {over && <div className={styles.cross} style={{ left: (over.bin + 0.5) * each }} />}
      </Bins>
      {over && <SeriesTip {...{ chart, drawn, near, zone }} bin={over.bin} at={over.client} />}
    </>
  );
}
