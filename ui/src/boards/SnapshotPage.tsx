import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { bodyOf, Problem } from "../api/client";
import { fetchSnapshot, type Snapshot } from "../api/documents";
import type { Answer, QuerySpec, Table } from "../api/types";
import { timeText, type Zone } from "../base/zone";
import { type AnswerSource, AnswerSourceContext } from "../explore/answers";
import { QueryScope } from "../explore/QueryScope";
import { ShownView } from "../explore/ShownView";
import { useTableColumns } from "../explore/tableColumns";
import { readQuery } from "../query/url";
import { VIEWS } from "../views/registry";
import { ProblemCard } from "../widgets/ProblemCard";

interface Props {
  search: string;
  tables: readonly Table[];
  zone: Zone;
  go: (url: string) => void;
}

/** A frozen answer: the view as it was, with its coverage, and a way to ask again. */
export function SnapshotPage(props: Props) {
  const name = new URLSearchParams(props.search).get("snapshot") ?? "";
  const { data, error, refetch } = useQuery<Snapshot, Problem>({
    queryKey: ["snapshot", name],
    queryFn: ({ signal }) => fetchSnapshot(name, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) {
    return (
      <Stack maw={520} mx="auto" pt="xl">
        <ProblemCard problem={error} onRetry={() => void refetch()} />
      </Stack>
    );
  }
  if (!data) {
    return (
      <Center mih="60vh">
        <Loader size="sm" aria-label="Loading" />
      </Center>
    );
  }
  return <Frozen key={data.name} {...props} snapshot={data} />;
}

/** The zone that the frozen queries were asked in: in another one, they are others. */
function frozenZone({ answers }: Snapshot): string {
  const [first] = answers;
  const query = (first?.request as { query?: { time_zone?: unknown } } | undefined)?.query;
  return typeof query?.time_zone === "string" ? query.time_zone : "UTC";
}

function Frozen({ snapshot, tables, zone, go }: Props & { snapshot: Snapshot }) {
  const { query } = useMemo(() => readQuery(`?${snapshot.query}`, VIEWS), [snapshot.query]);
  const table = tables.find(({ name }) => name === query?.table);
  const columns = useTableColumns(table);
  const taken = Date.parse(snapshot.taken);
  const source = useMemo(() => sourceOf(snapshot), [snapshot]);
  // Apart from the answers of the present.
  const [client] = useState(
    () => new QueryClient({ defaultOptions: { queries: { retry: false } } }),
  );
  client.setQueryData(["tables"], tables);
  const askAgain = () => go(`?${snapshot.query}`);
  return (
    <Stack gap="sm" data-testid="snapshot">
      <Alert color="blue" variant="light" role="note">
        <Group justify="space-between" gap="sm">
          <Stack gap={0}>
            <Title order={1} fz={16}>
              The answer of {timeText(taken, zone)}
            </Title>
            <Text size="sm">
              Rows, coverage and intervals are as they were then; nothing here is asked again.
            </Text>
          </Stack>
          <Button size="xs" onClick={askAgain}>
            Ask again now
          </Button>
        </Group>
      </Alert>
      {query && table && columns.data ? (
        <QueryClientProvider client={client}>
          <AnswerSourceContext.Provider value={source}>
            <QueryScope
              query={query}
              table={table}
              columns={columns.data}
              views={VIEWS}
              now={taken}
              zone={frozenZone(snapshot)}
              commit={askAgain}
            >
              {() => <ShownView />}
            </QueryScope>
          </AnswerSourceContext.Provider>
        </QueryClientProvider>
      ) : table && !columns.error ? (
        <Center mih="40vh">
          <Loader size="sm" aria-label="Loading" />
        </Center>
      ) : (
        <PlainRows snapshot={snapshot} />
      )}
    </Stack>
  );
}

/** Text of a request in which the order of keys does not matter. */
function requestText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Answers from the frozen ones; whatever was not frozen is refused. */
export function sourceOf({ answers }: Pick<Snapshot, "answers">): AnswerSource {
  const frozen = new Map(answers.map(({ request, answer }) => [requestText(request), answer]));
  return (spec: QuerySpec) => {
    const answer = frozen.get(requestText(JSON.parse(bodyOf(spec))));
    return answer ? Promise.resolve(answer) : Promise.reject(new Problem(NOT_FROZEN));
  };
}

const NOT_FROZEN = {
  type: "about:blank",
  title: "This part was not frozen",
  status: 404,
  detail: "The answer that was kept does not have it. Ask again to see it as it is now.",
};

/** The rows of the answers, where the table they came from is gone. */
function PlainRows({ snapshot }: { snapshot: Snapshot }) {
  return (
    <>
      <Text size="sm" c="dimmed" role="note">
        The table is gone. These are the rows of the frozen answers.
      </Text>
      {snapshot.answers.map(({ request, answer }) => (
        <RowsOf key={requestText(request)} answer={answer} />
      ))}
    </>
  );
}

function RowsOf({ answer }: { answer: Answer }) {
  const lines = [answer.columns.map(({ name }) => name), ...answer.rows.slice(0, 100)];
  const text = lines.map((row) => row.map((cell) => String(cell ?? "")).join("\t")).join("\n");
  return <pre className="wrap">{text}</pre>;
}
