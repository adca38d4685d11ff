import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX } from "@tabler/icons-react";
import type { Problem } from "../api/client";

/** The server's hint is for authors of queries: the page has no field for a deadline. */
const LATE_HINT = "Ask for a shorter time range, or for longer buckets.";

/** What went wrong, where, and what to do: never a blank page. */
export function ProblemCard({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  const { title, detail, field, position } = problem.body;
  const hint = problem.late ? LATE_HINT : problem.body.hint;
  const Icon = problem.unreachable ? IconPlugConnectedX : IconAlertTriangle;
  return (
    <Alert
      variant="outline"
      color={problem.unreachable ? "gray" : "orange"}
      icon={<Icon />}
      title={
        <Text span inherit c={problem.unreachable ? "dimmed" : "var(--warn)"}>
          {title}
        </Text>
      }
      role="alert"
    >
      <Stack gap="xs">
        {!problem.repeats && <Text size="sm">{detail}</Text>}
        {hint && <Text size="sm">{hint}</Text>}
        {field && (
          <Text size="xs" c="dimmed">
            In <Code>{field}</Code>
            {position && `, at character ${position.column}`}
          </Text>
        )}
        {onRetry && (
          <Group>
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
