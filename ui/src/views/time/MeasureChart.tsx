import { Paper, Text, UnstyledButton } from "@mantine/core";
import { useMemo } from "react";
import type { Answer } from "../../api/types";
import { durationWords } from "../../base/duration";
import { counted } from "../../base/format";
import { spanText } from "../../base/zone";
import { type Series, seriesOf, type TimeSeries } from "../../charts/time-series/data";
import type { TimeMark } from "../../charts/time-series/markLines";
import { noiseOf } from "../../charts/time-series/noise";
import { TimeSeriesChart } from "../../charts/time-series/TimeSeriesChart";
import { markOf, useExplore } from "../../explore/context";
import type { ResolvedQuery } from "../../query/spec";

const NONE: ReadonlySet<string> = new Set();
const NO_SERIES = { picks: [], others: [] };

/** The chart of one measure alone, for views that draw more than that. */
export function MeasureChart(props: {
  answer: Answer;
  at: number;
  height: number;
  /** The query that was asked. */
  of: ResolvedQuery;
}) {
  const { answer, at, height, of } = props;
  const chart = useMemo(() => seriesOf(answer, of, at), [answer, of, at]);
  return (
    <Paper withBorder p="xs">
      <NoiseNote chart={chart} />
      <SeriesChart series={chart} height={height} hidden={NONE} highlighted={null} />
    </Paper>
  );
}

/** Lines over time; a drag and a click open the menu. */
export function SeriesChart(props: {
  series: TimeSeries;
  height: number;
  hidden: ReadonlySet<string>;
  highlighted: string | null;
  log?: boolean;
  scaleBy?: readonly Series[];
  marks?: readonly TimeMark[];
}) {
  const { zone, openMenu } = useExplore();
  return (
    <TimeSeriesChart
      {...props}
      zone={zone}
      onBrush={(range, point) =>
        openMenu({ picks: [], range, label: spanText(range, zone), point })
      }
      onPick={({ series, range, label }, point) =>
        openMenu({ ...markOf(series ?? NO_SERIES), range, label, point })
      }
    />
  );
}

/** Where few rows are behind each point: that chance moves the line, and the way out. */
export function NoiseNote({ chart }: { chart: TimeSeries }) {
  const { query, commit } = useExplore();
  const noise = noiseOf(chart);
  if (noise === null) return null;
  const rows =
    noise.rows < 1 ? "Less than 1 row" : `About ${counted(Math.round(noise.rows), "row")}`;
  return (
    <Text size="xs" c="dimmed" mb={4} role="note">
      {rows} per point: chance moves the line.{" "}
      <UnstyledButton
        fz="xs"
        className="link"
        onClick={() => commit({ ...query, bucket: noise.bucket })}
      >
        Use buckets of {durationWords(noise.bucket)}
      </UnstyledButton>
    </Text>
  );
}
