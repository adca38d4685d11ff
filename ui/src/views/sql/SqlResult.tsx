import { Paper, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMemo } from "react";
import type { Answer } from "../../api/types";
import { strokesOf } from "../../base/colours";
import { exact, visible } from "../../base/format";
import { inUnit } from "../../base/units";
import { BarsChart } from "../../charts/bars/BarsChart";
import { TimeSeriesChart } from "../../charts/time-series/TimeSeriesChart";
import { useChartHeight, useExplore } from "../../explore/context";
import { optionOf, withOption } from "../../query/viewManifest";
import { DRAWN, type Picture } from "./options";
import { resultUnit } from "./resultNumbers";
import { SqlRows } from "./SqlRows";
import { barsOf, lineOf, pictureOf, picturesOf } from "./shape";

/** The pixels of the title of a chart. */
const TITLE = 24;

const NAMES: Readonly<Record<Picture, string>> = {
  table: "Table",
  line: "Line",
  bar: "Bars",
  number: "Numbers",
};

/** A result as a table, or as a picture that its columns allow. */
export function SqlResult({ answer }: { answer: Answer }) {
  const { query, commit, chartHeight } = useExplore();
  const pictures = useMemo(() => picturesOf(answer), [answer]);
  const shown = pictureOf(answer, optionOf(query, DRAWN));
  return (
    <Stack gap="xs">
      {chartHeight === undefined && pictures.length > 1 && (
        <SegmentedControl
          size="xs"
          w="max-content"
          aria-label="Drawn as"
          value={shown}
          onChange={(picture) => commit(withOption(query, DRAWN, picture as Picture))}
          data={pictures.map((value) => ({ value, label: NAMES[value] }))}
        />
      )}
      <Drawn answer={answer} as={shown} />
    </Stack>
  );
}

function Drawn({ answer, as }: { answer: Answer; as: Picture }) {
  if (as === "line") return <Lines answer={answer} />;
  if (as === "bar") return <Bars answer={answer} />;
  if (as === "number") return <Numbers answer={answer} />;
  return <SqlRows answer={answer} />;
}

const NONE: ReadonlySet<string> = new Set();
const nothing = () => {};

function Lines({ answer }: { answer: Answer }) {
  const { zone, columns } = useExplore();
  const height = useChartHeight(320);
  const chart = useMemo(() => lineOf(answer, columns), [answer, columns]);
  if (!chart) return null;
  return (
    <Paper withBorder p="xs">
      <TimeSeriesChart
        series={chart}
        zone={zone}
        height={height}
        hidden={NONE}
        highlighted={null}
        onBrush={nothing}
        onPick={nothing}
      />
    </Paper>
  );
}

function Bars({ answer }: { answer: Answer }) {
  const { chartHeight, columns } = useExplore();
  const charts = barsOf(answer);
  const height = chartHeight && chartHeight / charts.length - TITLE;
  return (
    <Stack gap="md">
      {charts.map(({ label, bars }) => {
        const strokes = strokesOf(bars.map((bar) => bar.key));
        const marks = bars.map((bar) => ({
          ...bar,
          before: null,
          colour: strokes.get(bar.key)?.colour ?? "",
          samples: Number.POSITIVE_INFINITY,
          isOther: true,
        }));
        const none = { unit: resultUnit(label, columns), shift: "", whole: null };
        const measured = { label, additive: false, estimated: false, ...none };
        return (
          <Paper key={label} withBorder p="sm">
            <Text size="xs" fw={600} mb={6}>
              {visible(label)}
            </Text>
            <BarsChart {...{ marks, measured, height }} onPick={nothing} />
          </Paper>
        );
      })}
    </Stack>
  );
}

function Numbers({ answer }: { answer: Answer }) {
  const { columns } = useExplore();
  const [row = []] = answer.rows;
  return (
    <SimpleGrid cols={{ base: 1, sm: Math.min(3, answer.columns.length) }}>
      {answer.columns.map(({ name }, at) => {
        const value = row[at] ?? null;
        return (
          <Paper key={name} withBorder p="lg">
            <Text size="sm" c="dimmed" className="clipped" title={name}>
              {visible(name)}
            </Text>
            <Text
              className="numbers"
              fz="clamp(28px, 5vw, 48px)"
              fw={650}
              title={value === null ? undefined : exact(String(value))}
            >
              {value === null ? "–" : inUnit(Number(value), resultUnit(name, columns))}
            </Text>
          </Paper>
        );
      })}
    </SimpleGrid>
  );
}
