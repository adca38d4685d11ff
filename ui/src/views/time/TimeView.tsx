import { Paper, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Answer, QuerySpec } from "../../api/types";
import { durationWords } from "../../base/duration";
import { timeText } from "../../base/zone";
import { seriesOf, type TimeSeries } from "../../charts/time-series/data";
import type { TimeMark } from "../../charts/time-series/markLines";
import { useAnswer, useAsked, withoutPartial } from "../../explore/answers";
import { useChartHeight, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { measureLabel } from "../../query/measure";
import { type ResolvedQuery, seriesRange } from "../../query/spec";
import { optionOf } from "../../query/viewManifest";
import { NoiseNote, SeriesChart } from "./MeasureChart";
import { EACH, LOG, PANELS, SCALE } from "./options";
import { type DrawChart, SeriesPanels } from "./SeriesPanels";
import { SeriesTable } from "./SeriesTable";
import { TimeTools } from "./TimeTools";
import { MarksNote, useMarks } from "./useMarks";
import { wholeRange, wholeSpec } from "./wholeRange";

/** Measures over time: a chart for each, one under the other, and the table of their series. */
export default function TimeView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, zone } = useExplore();
  const result = useAnswer(spec);
  const drawn = useAsked(result, resolved);
  const wholes = useAnswer(wholeSpec(resolved));
  const whole =
    useAsked(withoutPartial(wholes), resolved).query === drawn.query ? wholes.data : undefined;
  const { bucket, range } = seriesRange(drawn);
  const height = useChartHeight(query.measures.length > 1 ? 220 : 320);
  const marked = useMarks(range);
  const look: Drawing = {
    log: optionOf(query, SCALE) === LOG,
    each: optionOf(query, PANELS) === EACH && query.group.length > 0,
    marks: marked.marks,
  };
  return (
    <ViewFrame
      title={`Over time, per ${durationWords(bucket).replace(/^1 /, "")}`}
      spec={spec}
      result={result}
      height={height}
      tools={<TimeTools />}
    >
      {(answer) => (
        <Stack gap="md">
          {range.from > drawn.range.from && (
            <Text size="xs" c="dimmed" role="note">
              Begins with the first whole bucket, at {timeText(range.from, zone)}: the time before
              is compared right up to it.
            </Text>
          )}
          {drawn.query.measures.map((measure, at) => (
            <MeasurePanel
              key={measure}
              answer={answer}
              at={at}
              height={height}
              of={drawn}
              whole={whole}
              drawing={look}
            />
          ))}
          <MarksNote {...marked} />
        </Stack>
      )}
    </ViewFrame>
  );
}

/** How the series of a measure are drawn. */
interface Drawing {
  readonly log: boolean;
  /** Whether each has a chart. */
  readonly each: boolean;
  readonly marks: readonly TimeMark[];
}

/** The pixels of a line of the table of series, and how many of its lines a tile shows at least. */
const LINE = 24;
const LINES_SHOWN = 3;
const CHART_LEAST = 110;

/** The height of a chart in a tile that has room for one line of `series` below it. */
const aboveSeries = (height: number, series: number) =>
  Math.max(CHART_LEAST, height - LINE * Math.max(0, Math.min(series, LINES_SHOWN) - 1));

/** One measure: its chart, and beneath it its series. */
function MeasurePanel(props: {
  answer: Answer;
  at: number;
  height: number;
  /** The query that was asked. */
  of: ResolvedQuery;
  /** The measures over the whole range, where they are asked for. */
  whole?: Answer | undefined;
  drawing: Drawing;
}) {
  const { answer, at, height, of: resolved, whole, drawing } = props;
  const { chartHeight } = useExplore();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [highlighted, setHighlighted] = useState<string | null>(null);
  const chart = useMemo(() => seriesOf(answer, resolved, at), [answer, resolved, at]);
  const wholes = useMemo(
    () => (whole && !chart.additive ? wholeRange(whole, resolved, at) : null),
    [whole, chart.additive, resolved, at],
  );
  const chartAlone = chartHeight === undefined ? height : aboveSeries(height, chart.series.length);
  const draw: DrawChart = (part) => (
    <SeriesChart
      series={chart}
      highlighted={highlighted}
      log={drawing.log}
      marks={drawing.marks}
      {...part}
    />
  );
  return (
    <Paper withBorder p="xs">
      {resolved.query.measures.length > 1 && (
        <Text size="xs" fw={600} mb={4}>
          {measureLabel(resolved.query.measures[at] ?? "")}
        </Text>
      )}
      <NoiseNote chart={chart} />
      {drawing.log && <LogNote chart={chart} />}
      {drawing.each ? (
        <SeriesPanels chart={chart} hidden={hidden} draw={draw} />
      ) : (
        draw({ hidden, height: chartAlone })
      )}
      {(chartHeight === undefined || chart.series.length > 1) && (
        <SeriesTable
          chart={chart}
          wholes={wholes}
          hidden={hidden}
          onHide={setHidden}
          onHighlight={setHighlighted}
        />
      )}
    </Paper>
  );
}

/** What has no place on a logarithmic axis. */
function LogNote({ chart }: { chart: TimeSeries }) {
  const has = chart.series.some(({ values }) => values.some((it) => it !== null && it <= 0));
  if (!has) return null;
  return (
    <Text size="xs" c="dimmed" mb={4} role="note">
      Zero and negative values have no place on a logarithmic axis: there the line has gaps.
    </Text>
  );
}
