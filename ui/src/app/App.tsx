import { Center, Loader, Stack, Text } from "@mantine/core";
import { useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { fetchColumns, fetchTables, type Problem, serverNow } from "../api/client";
import type { Column, Table } from "../api/types";
import { durationMs } from "../base/duration";
import { columnsVersion } from "../explore/columnStats";
import { defaultQuery, type Query } from "../query/query";
import { rangeOf, rangeWithData } from "../query/time";
import { FileDrop } from "../widgets/importing/FileDrop";
import { ProblemCard } from "../widgets/ProblemCard";
import { TokenForm } from "../widgets/TokenForm";
import { useAddress, usePage } from "./address";
import { ExplorePage } from "./ExplorePage";
import { useKeys } from "./keys";
import { NoSuchTable } from "./NoSuchTable";
import { StartPage } from "./StartPage";
import { useZone } from "./settings";
import { KeyHelp, Tools } from "./Tools";

const ClusterPage = lazy(() => import("./ClusterPage"));

const TABLES_AGE_MS = 10_000;
const WAITING_MS = 1000;
/** How long a live page waits for an answer before it repeats the request. */
const PATIENCE_MS = 60_000;

/** The whole page: the tables, the current query, and the moment that it is asked for. */
export function App() {
  const { query: read, ignored, commit, replace } = useAddress();
  const { page, open } = usePage();
  const [zone, setZone] = useZone();
  const [now, again] = useNow(read?.refresh ?? "");
  const [helpOpen, help] = useDisclosure(false);
  const tables = useTables();
  const table = tables.data?.find((it) => it.name === read?.table);
  const query = useMemo(
    () => (ignored.length > 0 ? withDefaultRange(read, table, now) : read),
    [ignored, read, table, now],
  );
  const columns = useColumns(table);
  const atCluster = page === "cluster";
  const about = atCluster ? "Cluster" : query?.table;
  useDocumentTitle(about ? `${about} · Hadal` : "Hadal");
  // An address that is partly unread stays as it is, so that it can be put right.
  const initial = ignored.length === 0 && !atCluster ? tables.data : undefined;
  useInitialQuery(read, initial, replace, again);
  const ask = useCallback(
    (next: Query) => {
      again();
      commit(next);
    },
    [again, commit],
  );
  const shownQuery = atCluster ? null : query;
  useKeys(shownQuery, now, ask, again, help.open);
  const tools = (
    <Tools
      query={shownQuery}
      {...(table ? { table } : {})}
      now={now}
      commit={ask}
      again={again}
      help={help.open}
      page={page}
      open={open}
    />
  );
  // The problem is shown also while the request is repeated.
  const problem = tables.error ?? columns.error ?? tables.failureReason ?? columns.failureReason;
  return (
    <>
      <KeyHelp opened={helpOpen} onClose={help.close} />
      <FileDrop onOpen={(name) => ask(defaultQuery(name))} />
      {atCluster && !problem?.needsToken ? (
        <Suspense fallback={<Waiting />}>
          <ClusterPage
            zone={zone}
            onOpen={(name) => ask(defaultQuery(name))}
            logo={<Logo />}
            tools={tools}
          />
        </Suspense>
      ) : problem && !(tables.data && columns.data) ? (
        <Trouble problem={problem} />
      ) : !tables.data ? (
        <Waiting />
      ) : tables.data.length === 0 && !query ? (
        <StartPage logo={<Logo />} tools={tools} />
      ) : query && !table ? (
        <NoSuchTable
          name={query.table}
          tables={tables.data}
          onOpen={(name) => ask(defaultQuery(name))}
          logo={<Logo />}
          tools={tools}
        />
      ) : query && table && columns.data && rangeOf(query, now, table) ? (
        <ExplorePage
          query={query}
          ignored={ignored}
          tables={tables.data}
          table={table}
          columns={columns.data}
          now={now}
          zone={zone}
          onZone={setZone}
          commit={ask}
          logo={<Logo />}
          tools={tools}
        />
      ) : (
        <Waiting />
      )}
    </>
  );
}

function useTables() {
  return useQuery<Table[], Problem>({
    queryKey: ["tables"],
    queryFn: ({ signal }) => fetchTables(signal),
    refetchInterval: (query) => (query.state.data?.length ? TABLES_AGE_MS : WAITING_MS),
  });
}

/** A table's columns; asked for again when there are more of them, or perhaps others. */
function useColumns(table: Table | undefined) {
  const name = table?.name ?? "";
  return useQuery<Column[], Problem>({
    queryKey: ["columns", name, table && columnsVersion(table)],
    queryFn: ({ signal }) => fetchColumns(name, signal),
    enabled: table !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before, query) => (query?.queryKey[1] === name ? before : undefined),
  });
}

/** The query with a range that holds data, where it says none. */
function withDefaultRange(query: Query | null, table: Table | undefined, now: number) {
  if (!query || !table || rangeOf(query, now, table)) return query;
  return { ...query, ...rangeWithData(table, now) };
}

/** The moment of asking: the present, moved on by `again` and by the refresh rate. */
function useNow(refresh: string): [number, () => void] {
  const [now, setNow] = useState(serverNow);
  const client = useQueryClient();
  const again = useCallback(() => {
    void client.invalidateQueries({ queryKey: ["answer"], refetchType: "none" });
    setNow(serverNow());
  }, [client]);
  // Only once the page asks of the new moment: a query of a relative time is another one then,
  // while that of a fixed time is the same, and may have got more rows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the moment is what it is about
  useEffect(() => {
    void client.refetchQueries({ queryKey: ["answer"], type: "active", stale: true });
  }, [now, client]);
  // No timer is longer than 2^31 ms: one that were would not wait at all.
  const every = Math.min(durationMs(refresh) ?? 0, 2 ** 31 - 1);
  useEffect(() => {
    if (!every) return;
    let askedAt = Date.now();
    const timer = setInterval(() => {
      // A new request cancels the one in flight: slow answers and failures would never be shown.
      const waits = client.isFetching({ queryKey: ["answer"], type: "active" }) > 0;
      if (document.hidden || (waits && Date.now() - askedAt < PATIENCE_MS)) return;
      askedAt = Date.now();
      again();
    }, every);
    return () => clearInterval(timer);
  }, [every, again, client]);
  return [now, again];
}

/** Without a table in the URL, the one with most rows; without a range, one that holds data. */
function useInitialQuery(
  query: Query | null,
  tables: Table[] | undefined,
  replace: (next: Query) => void,
  again: () => void,
): void {
  useEffect(() => {
    const name = query?.table ?? busiest(tables ?? [])?.name;
    const table = tables?.find((it) => it.name === name);
    // A range that ends before it begins is none.
    if (!table || (query && rangeOf(query, serverNow(), table))) return;
    // Its rows may have come after the page asked last.
    again();
    replace({ ...(query ?? defaultQuery(table.name)), ...rangeWithData(table, serverNow()) });
  }, [query, tables, replace, again]);
}

function busiest(tables: Table[]): Table | undefined {
  const userTables = tables.filter((it) => !it.name.startsWith("_"));
  return (userTables.length > 0 ? userTables : tables).toSorted((a, b) => b.rows - a.rows)[0];
}

function Logo() {
  return (
    <Text fw={700} fz="lg" className="logo" component="a" href="/" aria-label="Hadal">
      <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" fill="#0b2a4a" />
        <path
          d="M4 10c4-3 8-3 12 0s8 3 12 0"
          fill="none"
          stroke="#8fd3ff"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
        <path
          d="M7 16c3-2 6-2 9 0s6 2 9 0"
          fill="none"
          stroke="#4aa8e8"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
        <path
          d="M11 22c2-1.4 3.4-1.4 5 0s3 1.4 5 0"
          fill="none"
          stroke="#2b7cc4"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
      </svg>
      <span className="wide-only">Hadal</span>
    </Text>
  );
}

function Middle({ children }: { children: ReactNode }) {
  return (
    <Center mih="80vh" p="md">
      <Stack maw={520} w="100%">
        {children}
      </Stack>
    </Center>
  );
}

function Waiting() {
  return (
    <Center mih="80vh">
      <Loader size="sm" aria-label="Loading" />
    </Center>
  );
}

function Trouble({ problem }: { problem: Problem }) {
  const client = useQueryClient();
  const retry = () => void client.invalidateQueries();
  return (
    <Middle>
      {problem.needsToken ? (
        <TokenForm onDone={retry} />
      ) : (
        <ProblemCard problem={problem} onRetry={retry} />
      )}
    </Middle>
  );
}
