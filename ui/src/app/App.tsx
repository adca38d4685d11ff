import { Center, Loader, Stack } from "@mantine/core";
import { useCallbackRef, useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, Suspense, useCallback, useEffect, useMemo } from "react";
import { type Problem, serverNow } from "../api/client";
import type { Column, Table } from "../api/types";
import { durationMs } from "../base/duration";
import { lazyPart } from "../base/part";
import type { Commit } from "../explore/context";
import { TABLES_AGE_MS, tablesQuery, useTableColumns } from "../explore/tableColumns";
import { defaultQuery, type Query } from "../query/query";
import { rangeOf, rangeWithData } from "../query/time";
import { IncomingBar } from "../widgets/IncomingBar";
import { FileDrop } from "../widgets/importing/FileDrop";
import { NoticeBar } from "../widgets/NoticeBar";
import { ProblemCard } from "../widgets/ProblemCard";
import { TokenForm } from "../widgets/TokenForm";
import { useAddress, usePage, useSearch } from "./address";
import { CommandPalette } from "./CommandPalette";
import { ExplorePage } from "./ExplorePage";
import { Hints } from "./Hints";
import { completeAddress, withRange } from "./initialQuery";
import { KeyHelp } from "./KeyHelp";
import { useKeys } from "./keys";
import { Logo } from "./Logo";
import { moveOn, useMoment } from "./moment";
import { NoSuchTable } from "./NoSuchTable";
import { needsNoTables, OtherPage, pageTitle } from "./OtherPage";
import { paceOf } from "./pace";
import { useZone } from "./settings";
import { Tools } from "./Tools";

const StartPage = lazyPart(async () => ({ default: (await import("./home/StartPage")).StartPage }));

const NO_COLUMNS: Column[] = [];
const NO_TABLES: Table[] = [];
const WAITING_MS = 1000;
/** How often a live page looks whether to ask again. */
const LOOK_MS = 250;

/** So long a view may be drawn of the moment of the view before it. */
const SAME_MOMENT_MS = 60_000;

/** The whole page: the tables, the current query, and the moment that it is asked for. */
export function App() {
  const { query: read, ignored, commit } = useAddress();
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
  const columns = useTableColumns(table);
  const search = useSearch();
  const about = pageTitle(page, search) ?? query?.table;
  useDocumentTitle(about ? `${about} · Hadal` : "Hadal");
  // An address that is partly unread stays as it is, so that it can be put right.
  const isRead = ignored.length === 0 || read === null;
  const initial = isRead && page === "query" ? tables.data : undefined;
  useInitialQuery(read, initial, again);
  const ask = useCallbackRef<Commit>((wanted) => {
    const next = typeof wanted === "function" ? query && wanted(query) : wanted;
    if (next === null) return;
    // Another view of the same rows has the answers that are there.
    const isSame = query !== null && sameRows(query, next);
    if (!isSame || serverNow() - now > SAME_MOMENT_MS) again();
    commit(next);
  });
  const shownQuery = page === "query" ? query : null;
  const [paletteOpen, palette] = useDisclosure(false);
  useKeys(shownQuery, now, ask, again, help.open, palette.open);
  const tools = (
    <Tools
      query={shownQuery}
      {...(table ? { table } : {})}
      now={now}
      commit={ask}
      again={again}
      help={help.open}
      palette={palette.open}
      page={page}
      open={open}
    />
  );
  const logo = <Logo open={open} />;
  const openTable = useCallback((name: string) => ask(defaultQuery(name)), [ask]);
  const shared = { logo, tools };
  const allTables = tables.data ?? NO_TABLES;
  const isEmpty = tables.data?.every(({ name }) => name.startsWith("_")) === true;
  // The problem is shown also while the request is repeated.
  const problem = tables.error ?? columns.error ?? tables.failureReason ?? columns.failureReason;
  const isDrawn =
    page === "query" ? tables.data && columns.data : tables.data || needsNoTables(page);
  return (
    <>
      <KeyHelp opened={helpOpen} onClose={help.close} />
      <CommandPalette
        query={shownQuery}
        columns={columns.data ?? NO_COLUMNS}
        tables={allTables}
        {...{ now, again }}
        commit={ask}
        help={help.open}
        open={open}
        opened={paletteOpen}
        onClose={palette.close}
      />
      <Hints />
      <NoticeBar />
      <IncomingBar />
      <FileDrop onOpen={openTable} />
      {problem?.needsToken || (problem && !isDrawn) ? (
        <Trouble problem={problem} />
      ) : !tables.data && !needsNoTables(page) ? (
        <Waiting />
      ) : page !== "query" ? (
        <OtherPage
          {...{ page, search, zone }}
          tables={allTables}
          onZone={setZone}
          onOpen={openTable}
          {...shared}
        />
      ) : isEmpty && !query ? (
        <Suspense fallback={<Waiting />}>
          <StartPage {...shared} />
        </Suspense>
      ) : query && !table ? (
        <NoSuchTable name={query.table} tables={allTables} onOpen={openTable} {...shared} />
      ) : query && table && columns.data && rangeOf(query, now, table) ? (
        <ExplorePage
          query={query}
          ignored={ignored}
          tables={allTables}
          table={table}
          columns={columns.data}
          now={now}
          zone={zone}
          onZone={setZone}
          commit={ask}
          {...shared}
        />
      ) : (
        <Waiting />
      )}
    </>
  );
}

function useTables() {
  return useQuery({
    ...tablesQuery,
    refetchInterval: (query) => (query.state.data?.length ? TABLES_AGE_MS : WAITING_MS),
  });
}

/** Whether queries differ in how their rows are drawn at most. */
const sameRows = (a: Query, b: Query) => {
  const [one, other] = [a, b].map(({ view: _, ...rest }) => JSON.stringify(rest));
  return one === other;
};

/** The query with a range that holds data, where it says none. */
function withDefaultRange(query: Query | null, table: Table | undefined, now: number) {
  if (!query || !table || rangeOf(query, now, table)) return query;
  return { ...query, ...rangeWithData(table, now) };
}

/** The moment of asking: the present, moved on by `again` and by the refresh rate. */
function useNow(refresh: string): [number, () => void] {
  const now = useMoment();
  const client = useQueryClient();
  const again = useCallback(() => {
    void client.invalidateQueries({ queryKey: ["answer"], refetchType: "none" });
    moveOn();
  }, [client]);
  // Only once the page asks of the new moment: a query of a relative time is another one then,
  // while that of a fixed time is the same, and may have got more rows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the moment is what it is about
  useEffect(() => {
    void client.refetchQueries({ queryKey: ["answer"], type: "active", stale: true });
  }, [now, client]);
  const every = durationMs(refresh) ?? 0;
  useEffect(() => {
    if (!every) return;
    const isDue = paceOf(every, Date.now());
    const timer = setInterval(() => {
      const waits = client.isFetching({ queryKey: ["answer"], type: "active" }) > 0;
      if (!document.hidden && isDue(waits, Date.now())) again();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [every, again, client]);
  return [now, again];
}

/** Completes the address once its tables are known. */
function useInitialQuery(
  query: Query | null,
  tables: Table[] | undefined,
  again: () => void,
): void {
  useEffect(() => {
    if (!tables) return;
    const now = serverNow();
    const isComplete = query !== null && withRange(query, tables, now) === null;
    // Its rows may have come after the page asked last.
    if (!isComplete && completeAddress(tables, now)) again();
  }, [query, tables, again]);
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
