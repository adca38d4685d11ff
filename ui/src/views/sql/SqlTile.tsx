import { Box, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { visible } from "../../base/format";
import { useExplore } from "../../explore/context";
import { CoverageCorner } from "../../widgets/coverage/CoverageCorner";
import { countMatched } from "../../widgets/coverage/coverage";
import { ProblemCard } from "../../widgets/ProblemCard";
import { SqlResult } from "./SqlResult";
import { useSqlResult } from "./sqlAnswer";

/** In a tile: what the text gets. The text is changed in Explore. */
export function SqlTile({ spec }: { spec: QuerySpec }) {
  const { query, table, chartHeight } = useExplore();
  const { stored, asked, result } = useSqlResult(spec);
  const { data, error } = result;
  const unused = stored === "" ? [] : [...new Set(query.filters.map(({ column }) => column))];
  const rowCounts = data ? countMatched(data) : null;
  return (
    <Stack gap="xs" data-testid="view" data-busy={result.isFetching}>
      <Group gap="sm" className="view-head">
        {stored !== "" && asked === stored && (
          <Text
            size="xs"
            c="dimmed"
            role="note"
            className="nowrap"
            title="The text of this SQL has neither $from nor $to: the dashboard's time has no part in it."
          >
            own time range
          </Text>
        )}
        {unused.length > 0 && (
          <Text
            size="xs"
            c="var(--warn)"
            role="note"
            className="clipped"
            title="Filters do not change this SQL. A variable does where the SQL names it."
          >
            not filtered by {visible(unused.join(", "))}
          </Text>
        )}
        {data && rowCounts && !error && (
          <CoverageCorner
            answer={data}
            rowCounts={rowCounts}
            table={table}
            busy={result.isFetching}
          />
        )}
      </Group>
      {error ? (
        <ProblemCard problem={error} onRetry={() => void result.refetch()} />
      ) : data ? (
        <Box className={result.isPlaceholderData ? "stale" : "fresh"}>
          <SqlResult answer={data} />
        </Box>
      ) : (
        <Skeleton h={chartHeight} aria-label="Loading" />
      )}
    </Stack>
  );
}
