import { Paper, SimpleGrid, Stack, Text, UnstyledButton } from "@mantine/core";
import { numberOf } from "../../api/client";
import type { Answer, Cell, QuerySpec } from "../../api/types";
import { change, exact, SKETCH_STEP } from "../../base/format";
import { inUnit } from "../../base/units";
import { type Series, seriesOf } from "../../charts/time-series/data";
import { sides, useAnswer } from "../../explore/answers";
import { pointOf, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { isEstimated, measureLabel, measureUnit } from "../../query/measure";
import { beforeText } from "../../query/query";
import { sparkPath } from "./sparkline";
import { numberQuery, wholeSpec } from "./spec";

/** Each measure as a large number, with what it was before and its course over the range. */
export default function NumberView({ spec }: { spec: QuerySpec }) {
  const { resolved, query } = useExplore();
  const whole = useAnswer(wholeSpec(resolved));
  const course = useAnswer(spec);
  return (
    <ViewFrame title="All rows" spec={wholeSpec(resolved)} result={whole} height={200}>
      {(answer) => (
        <SimpleGrid cols={{ base: 1, sm: Math.min(2, query.measures.length) }}>
          {query.measures.map((measure, at) => (
            <BigNumber
              key={measure}
              measure={measure}
              at={at}
              answer={answer}
              course={course.data}
            />
          ))}
        </SimpleGrid>
      )}
    </ViewFrame>
  );
}

function BigNumber(props: {
  measure: string;
  at: number;
  answer: Answer;
  course: Answer | undefined;
}) {
  const { measure, at, answer, course } = props;
  const { resolved, query, openMenu } = useExplore();
  const { now, before } = sides(answer);
  const place = at + (before === null ? 0 : 1);
  const value = now[0]?.[0][place] ?? null;
  const earlier = before?.[0]?.[0][place] ?? null;
  const series = course && seriesOf(course, numberQuery(resolved), at).series[0];
  const step = isEstimated(measure) ? SKETCH_STEP : 0;
  const label = measureLabel(measure);
  const unit = measureUnit(measure, resolved.columns);
  return (
    <Paper withBorder p="lg" style={{ overflow: "hidden" }}>
      <Stack gap={2}>
        <Text size="sm" c="dimmed">
          {label}
        </Text>
        <UnstyledButton
          className="numbers big-number"
          fw={650}
          lh={1.15}
          title={textOf(value, exact)}
          onClick={(event) => openMenu({ label, picks: [], point: pointOf(event) })}
        >
          {textOf(value, (it) => inUnit(Number(it), unit))}
        </UnstyledButton>
        {earlier !== null && (
          <Text size="md" className="numbers" title={textOf(earlier, exact)}>
            {change(numberOf(value), numberOf(earlier), step) ?? "–"}
            <Text span c="dimmed">
              {" "}
              from {textOf(earlier, (it) => inUnit(Number(it), unit))}, {beforeText(query.compare)}
            </Text>
          </Text>
        )}
        {series && <Spark series={series} label={label} />}
      </Stack>
    </Paper>
  );
}

function textOf(cell: Cell, write: (digits: string) => string): string {
  if (cell === null) return "–";
  return numberOf(cell) === null ? String(cell) : write(String(cell));
}

const [WIDTH, HEIGHT] = [400, 60];

/** The course of a number over the range; dotted, that of the time before. */
function Spark({ series, label }: { series: Series; label: string }) {
  const all = [series.values, series.before ?? []];
  const line = { fill: "none", vectorEffect: "non-scaling-stroke" } as const;
  const colour = "var(--mantine-primary-color-filled)";
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      width="100%"
      height={HEIGHT}
      role="img"
      aria-label={`${label} over time`}
    >
      {series.before && (
        <path
          {...line}
          d={sparkPath(series.before, all, WIDTH, HEIGHT)}
          stroke="var(--mantine-color-dimmed)"
          strokeWidth={1.25}
          strokeDasharray="1 3"
        />
      )}
      <path
        {...line}
        d={sparkPath(series.values, all, WIDTH, HEIGHT)}
        stroke={colour}
        strokeWidth={1.75}
      />
    </svg>
  );
}
