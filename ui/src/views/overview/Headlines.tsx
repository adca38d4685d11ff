import { SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { numberOf } from "../../api/client";
import type { Answer } from "../../api/types";
import { change } from "../../base/format";
import { exactInUnit, inUnit } from "../../base/units";
import { sides } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { isEstimated, type Measure, measureLabel, measureUnit } from "../../query/measure";
import { ChangeText } from "../table/ChangeText";
import { stepOf } from "../table/MeasureCells";

/** A row of big numbers. The one that is pressed is what the whole overview draws. */
export function Headlines(props: { measures: readonly Measure[]; answer: Answer | undefined }) {
  const { measures, answer } = props;
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, lg: 4 }} spacing="sm" data-testid="headlines">
      {measures.map((measure, at) => (
        <Headline key={measure} measure={measure} at={at} answer={answer} />
      ))}
    </SimpleGrid>
  );
}

function Headline(props: { measure: Measure; at: number; answer: Answer | undefined }) {
  const { measure, at, answer } = props;
  const { query, columns, commit } = useExplore();
  const shown = query.measures[0] === measure;
  const unit = measureUnit(measure, columns);
  const both = answer && sides(answer);
  const column = both?.before ? at + 1 : at;
  const [row] = both?.now[0] ?? [];
  const now = numberOf(row?.[column]);
  const before = numberOf(both?.before?.[0]?.[0][column]);
  const label = measureLabel(measure);
  return (
    <UnstyledButton
      className="headline"
      aria-pressed={shown}
      title={
        now === null
          ? label
          : `${label}: ${isEstimated(measure) ? "≈ " : ""}${exactInUnit(now, unit)}`
      }
      onClick={() => commit({ ...query, measures: [measure], order: "" })}
    >
      <Text size="xs" c="dimmed" truncate>
        {label}
      </Text>
      <Text fz={22} lh={1.25} fw={600} className="numbers" component="span">
        {now === null ? "–" : inUnit(now, unit)}
      </Text>
      {both?.before && (
        <Text size="xs" className="numbers" component="span" ml={8}>
          <ChangeText now={now} before={before} text={change(now, before, stepOf(measure))} />
        </Text>
      )}
    </UnstyledButton>
  );
}
