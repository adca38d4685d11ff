import { Box, Button, Group, Skeleton, Stack, Text, Tooltip } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { fetchColumns, type Problem } from "../../api/client";
import type { QuerySpec, Table } from "../../api/types";
import { useExplore } from "../../explore/context";
import { useAsMain } from "../../explore/mainSpec";
import { withOption } from "../../query/viewManifest";
import { CoverageCorner } from "../../widgets/coverage/CoverageCorner";
import { countMatched } from "../../widgets/coverage/coverage";
import { ProblemCard } from "../../widgets/ProblemCard";
import type { Names } from "./completion";
import { SQL_TEXT } from "./options";
import { type Mistake, SqlEditor } from "./SqlEditor";
import { SqlResult } from "./SqlResult";
import { SqlTile } from "./SqlTile";
import { useSqlResult } from "./sqlAnswer";
import { laidOut } from "./text";

/** A query as text, with an editor where there is room for one. */
export default function SqlView({ spec }: { spec: QuerySpec }) {
  const isTile = useExplore().chartHeight !== undefined;
  return isTile ? <SqlTile spec={spec} /> : <SqlWithEditor spec={spec} />;
}

/** An editor, and what its text gets. It begins with the page's query. */
function SqlWithEditor({ spec }: { spec: QuerySpec }) {
  const { query, commit, table, loadStats } = useExplore();
  const { stored, asked, result } = useSqlResult(spec);
  const text = stored === "" ? laidOut(result.data?.sql ?? "") : stored;
  const [draft, setDraft] = useState(text);
  useEffect(() => setDraft(text), [text]);
  const names = useNames();
  useAsMain(stored === "" ? spec : { sql: asked });
  useEffect(() => {
    if (result.data || result.error) loadStats();
  }, [result.data, result.error, loadStats]);
  const run = (next: string) => {
    if (next.trim() === "") return;
    if (next === text) void result.refetch();
    else commit(withOption(query, SQL_TEXT, next));
  };
  const mistake = useMemo(() => mistakeOf(result.error), [result.error]);
  const { data } = result;
  const rowCounts = data ? countMatched(data) : null;
  return (
    <Stack gap="xs" data-testid="view" data-busy={result.isFetching}>
      {stored === "" && !result.data && !result.error ? (
        <Skeleton h={86} aria-label="Loading" />
      ) : (
        <SqlEditor
          initial={text}
          names={names}
          mistake={draft === text && asked === stored ? mistake : null}
          onChange={setDraft}
          onRun={run}
        />
      )}
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <Tooltip label="Ctrl Enter" openDelay={400}>
            <Button
              size="xs"
              leftSection={<IconPlayerPlay size={14} />}
              onClick={() => run(draft)}
              disabled={draft.trim() === ""}
            >
              Run
            </Button>
          </Tooltip>
          {stored !== "" && (
            <Button
              size="xs"
              variant="default"
              onClick={() => commit(withOption(query, SQL_TEXT, ""))}
            >
              Begin with the page's query
            </Button>
          )}
          <Text size="xs" c="dimmed">
            Only this text is asked. Of the query panel, $from and $to stand for the time range.
          </Text>
        </Group>
        {data && rowCounts && !result.error && (
          <CoverageCorner
            answer={data}
            rowCounts={rowCounts}
            table={table}
            busy={result.isFetching}
          />
        )}
      </Group>
      {result.error ? (
        <ProblemCard problem={result.error} onRetry={() => void result.refetch()} />
      ) : data ? (
        <Box className={result.isPlaceholderData ? "stale" : "fresh"}>
          <SqlResult answer={data} />
        </Box>
      ) : (
        <Skeleton h={320} aria-label="Loading" />
      )}
    </Stack>
  );
}

/** Where the text is wrong, if the server names a place in it. */
function mistakeOf(problem: Problem | null): Mistake | null {
  const { position, detail } = problem?.body ?? {};
  return position && detail ? { message: detail, byte: position.offset } : null;
}

function useNames(): Names {
  const { table, columns } = useExplore();
  const client = useQueryClient();
  return useMemo(
    () => ({
      table: table.name,
      tables: (client.getQueryData<Table[]>(["tables"]) ?? []).map(({ name }) => name),
      columnsOf: async (name: string) =>
        name === table.name
          ? columns
          : client.fetchQuery({
              queryKey: ["columns", name, "names"],
              queryFn: ({ signal }) => fetchColumns(name, signal),
              staleTime: 60_000,
              retry: false,
            }),
    }),
    [client, table.name, columns],
  );
}
