import { Alert, Box, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Problem } from "../api/client";
import type { Answer } from "../api/types";
import { timeText } from "../base/zone";
import { wholeRange } from "../query/time";
import { CoverageCorner, missingWords, weigh } from "../widgets/CoverageCorner";
import { ProblemCard } from "../widgets/ProblemCard";
import { useDive } from "./dive";

/**
 * Around every view: its title and the corner, the loading, empty and error states. The old answer
 * stays, dimmed, until the new one is there.
 */
export function ViewFrame(props: {
  title: ReactNode;
  result: UseQueryResult<Answer, Problem>;
  /** Drawn while there is nothing yet, in pixels. */
  height: number;
  tools?: ReactNode;
  children: (answer: Answer) => ReactNode;
}) {
  const { title, result, height, tools, children } = props;
  const { table } = useDive();
  const answer = result.data;
  const stale = result.isPlaceholderData;
  return (
    <Stack gap="xs" data-testid="view" data-busy={result.isFetching}>
      <Group justify="space-between" align="center" gap="xs">
        <Group gap="sm">
          <Text size="sm" fw={600} component="h2" m={0}>
            {title}
          </Text>
          {tools}
        </Group>
        {answer && !result.error && (
          <CoverageCorner
            answer={answer}
            weighed={weigh(answer)}
            table={table}
            busy={result.isFetching}
          />
        )}
      </Group>
      {result.error ? (
        <ProblemCard problem={result.error} onRetry={() => void result.refetch()} />
      ) : answer ? (
        <Box className={stale ? "stale" : "fresh"} aria-busy={stale}>
          <Notes answer={answer} />
          {answer.stats.rows_matched === 0 ? <NothingHere /> : children(answer)}
        </Box>
      ) : (
        <Skeleton h={height} radius="sm" aria-label="Asking" />
      )}
    </Stack>
  );
}

/** What an answer says of itself: rows that are missing, and warnings. */
function Notes({ answer }: { answer: Answer }) {
  const missing = missingWords(answer.coverage);
  return (
    <>
      {missing && (
        <Alert color="orange" py="xs" mb="xs" role="alert" title="Incomplete">
          {missing}
        </Alert>
      )}
      {answer.warnings.map((warning) => (
        <Text key={`${warning.code} ${warning.subject}`} size="xs" c="orange.8" mb={4} role="note">
          {warning.message}
        </Text>
      ))}
    </>
  );
}

/** Instead of an empty chart: why, and the ways out. */
function NothingHere() {
  const { question, table, zone, commit } = useDive();
  const { first_time: first, last_time: last } = table;
  const filtered = question.filters.length > 0 || question.search !== "" || question.where !== "";
  return (
    <Stack align="center" gap="sm" py={48} data-testid="empty">
      <Text fw={600}>No rows here</Text>
      {first !== null && last !== null && (
        <Text size="sm" c="dimmed" ta="center">
          {table.name} has rows from {timeText(Date.parse(first), zone)} to{" "}
          {timeText(Date.parse(last), zone)}.
        </Text>
      )}
      <Group>
        <Button
          size="xs"
          onClick={() => commit({ ...question, ...wholeRange(table), bucket: "auto" })}
        >
          Go to the data
        </Button>
        {filtered && (
          <Button
            size="xs"
            variant="default"
            onClick={() => commit({ ...question, filters: [], search: "", where: "" })}
          >
            Without filters
          </Button>
        )}
      </Group>
    </Stack>
  );
}
