import {
  Box,
  Button,
  Code,
  Group,
  Paper,
  Progress,
  Skeleton,
  Stack,
  Text,
  UnstyledButton,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useContext } from "react";
import { ask, explain, type Problem } from "../../api/client";
import type { Difference, Explanation } from "../../api/explain";
import type { QuerySpec } from "../../api/types";
import { counted, percent } from "../../base/format";
import { AnswerSourceContext, useAnswer } from "../../explore/answers";
import { pointOf, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { withCondition } from "../../query/edit";
import { SELECTED } from "../../query/selection";
import { optionOf, withOption } from "../../query/viewManifest";
import { ProblemCard } from "../../widgets/ProblemCard";
import { conditionText, liftText, narrowTo, type Sides, sidesOf } from "./spec";

/** What the rows of one side have that those of the other have not. */
export default function WhyView({ spec }: { spec: QuerySpec }) {
  const { resolved } = useExplore();
  const result = useAnswer(spec);
  const sides = sidesOf(resolved);
  return (
    <ViewFrame hasData={false} title="What is different?" spec={spec} result={result} height={320}>
      {() => (
        <Stack gap="xs">
          <Selection />
          {sides && <Differences of={sides} />}
        </Stack>
      )}
    </ViewFrame>
  );
}

/** The selection, if there is one: it can be filtered to, or dropped. */
function Selection() {
  const { query, commit } = useExplore();
  const selected = optionOf(query, SELECTED);
  if (selected === "") return null;
  const without = withOption(query, SELECTED, "");
  return (
    <Group gap="xs">
      <Text size="xs" c="dimmed">
        Selected:
      </Text>
      <Code className="wrap">{selected}</Code>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => commit(withCondition(without, selected))}
      >
        Filter to the selection
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => commit(without)}>
        Drop the selection
      </Button>
    </Group>
  );
}

function Differences({ of }: { of: Sides }) {
  const isFrozen = useContext(AnswerSourceContext) !== ask;
  if (isFrozen) return <Text c="dimmed">Differences are not frozen. Ask again to see them.</Text>;
  return <AskedDifferences of={of} />;
}

function AskedDifferences({ of }: { of: Sides }) {
  const { rows, sides, names } = of;
  const { data, error, refetch } = useQuery<Explanation, Problem>({
    queryKey: ["explain", rows, sides],
    queryFn: ({ signal }) => explain(rows, sides, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
  if (error) return <ProblemCard problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton h={240} radius="sm" aria-label="Comparing all columns" />;
  const examined = `${counted(data.tried, "condition")} on ${counted(data.columns.length, "column")}`;
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {names[0]} ({counted(data.events.selection, "event")}) beside {names[1]} (
        {counted(data.events.baseline, "event")}): {examined} were counted.
      </Text>
      {data.warnings.map(({ code, subject, message }) => (
        <Text key={`${code} ${subject}`} size="xs" c="var(--warn)" role="note">
          {message}
        </Text>
      ))}
      {data.findings.length === 0 && (
        <Text size="sm" role="note">
          {nothingWords(data, names)}
        </Text>
      )}
      {data.findings.map((difference) => (
        <DifferenceRow
          key={difference.conditions.map((it) => it.sql).join(" AND ")}
          difference={difference}
          names={names}
        />
      ))}
    </Stack>
  );
}

/** Why there is no difference to show. */
function nothingWords({ events }: Explanation, [now, before]: Sides["names"]): string {
  if (events.selection === 0 || events.baseline === 0) {
    return `Nothing can be compared: “${events.selection === 0 ? now : before}” has no events.`;
  }
  return "No difference is both large and sure: what there is may be chance.";
}

/** A difference as two bars: the shares of both sides. A click opens the menu. */
function DifferenceRow(props: { difference: Difference; names: Sides["names"] }) {
  const { conditions, shares, lift, also } = props.difference;
  const { openMenu } = useExplore();
  const label = conditions.map(conditionText).join(" and ");
  const [now, before] = props.names;
  return (
    <UnstyledButton
      data-mark
      aria-label={`${label}: ${percent(shares.selection)} of ${now}, ${percent(shares.baseline)} of ${before}`}
      onClick={(event) =>
        openMenu({
          label,
          picks: [],
          point: pointOf(event),
          narrow: (query) => narrowTo(query, conditions),
        })
      }
    >
      <Paper withBorder p="xs">
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <Text size="sm" fw={600} className="wrap" title={label} lineClamp={3} dir="auto">
            {label}
          </Text>
          <Text size="sm" fw={600} style={{ whiteSpace: "nowrap" }}>
            {liftText(lift)}
          </Text>
        </Group>
        {also.length > 0 && (
          <Text size="xs" c="dimmed" lineClamp={2} dir="auto">
            also: {also.map(conditionText).join(", ")}
          </Text>
        )}
        <Share of={now} value={shares.selection} colour="blue" />
        <Share of={before} value={shares.baseline} colour="gray.5" />
      </Paper>
    </UnstyledButton>
  );
}

function Share({ of, value, colour }: { of: string; value: number; colour: string }) {
  return (
    <Group gap="xs" wrap="nowrap" aria-hidden>
      <Box flex={1}>
        <Progress value={value * 100} color={colour} size="sm" />
      </Box>
      <Text size="xs" c="dimmed" w={170}>
        {percent(value)} of {of}
      </Text>
    </Group>
  );
}
