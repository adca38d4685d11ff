import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX } from "@tabler/icons-react";
import type { Problem } from "../api/client";

/** The server's hint is for authors of queries: the page has no field for a deadline. */
const LATE_HINT = "Ask for a shorter time range, or for longer buckets.";

/** What the parts of a request are called on the page. */
const FIELDS: Readonly<Record<string, string>> = {
  filter: "the filters or the SQL filter",
  group_by: "Group by",
  aggregates: "the measures",
  order_by: "the order",
  search: "the search",
};

/** Where on the page a mistake is: `filter[0]` is no name that anybody has read there. */
function fieldWords(field: string) {
  const words = FIELDS[field.replace(/\[.*/, "")];
  return words === undefined ? (
    <>
      In <Code>{field}</Code>
    </>
  ) : (
    `In ${words}`
  );
}

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
            {fieldWords(field)}
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
