import { AppShell, Box, Burger, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import type { Column, Table } from "../api/types";
import type { Zone } from "../base/zone";
import { isIdentifier } from "../explore/columnRanking";
import { useColumnStats } from "../explore/columnStats";
import { type Explore, ExploreContext, type Mark, useExplore } from "../explore/context";
import { useDerivedColumns } from "../explore/derivedColumns";
import { fitToColumns } from "../explore/fitToColumns";
import { IgnoredNote } from "../explore/IgnoredNote";
import { MarkMenu } from "../explore/MarkMenu";
import { QueryLine } from "../explore/QueryLine";
import { useRefetchWhileRecovering } from "../explore/refetchWhileRecovering";
import { SearchBox } from "../explore/SearchBox";
import { Sidebar } from "../explore/Sidebar";
import type { Query } from "../query/query";
import type { ResolvedQuery } from "../query/spec";
import { rangeOf, rangeWithData } from "../query/time";
import { type IgnoredPart, type Repair, withView } from "../query/viewManifest";
import { VIEWS } from "../views/registry";
import { ViewChoice } from "./ViewChoice";

/** One table, one query: the sidebar at the left, the answer at the right. */
export function ExplorePage(props: {
  query: Query;
  /** Parts of the address that have no effect. */
  ignored: readonly IgnoredPart[];
  tables: Table[];
  table: Table;
  columns: Column[];
  now: number;
  zone: Zone;
  onZone: (zone: Zone) => void;
  commit: (next: Query) => void;
  /** The logo, and what stands at the right end of the head. */
  logo: ReactNode;
  tools: ReactNode;
}) {
  const { tables, table, now, zone, commit } = props;
  const { loaded: statsLoaded, load: loadStats, ...stats } = useColumnStats(table, props.columns);
  const columns = useDerivedColumns(table.name, props.query.define, stats.columns);
  const { query, misfits } = useMemo(
    () => fitToColumns(props.query, columns, now, VIEWS),
    [props.query, columns, now],
  );
  useRefetchWhileRecovering(table);
  const [mark, setMark] = useState<Mark | null>(null);
  const [sidebarOpen, sidebar] = useDisclosure(false);
  const openMenu = useCallback((next: Mark) => setMark(next), []);
  const identifiers = useMemo(
    () => new Set(columns.filter(isIdentifier).map((column) => column.name)),
    [columns],
  );
  const explore = useMemo<Explore>(() => {
    const usual = rangeOf({ ...query, ...rangeWithData(table, now) }, now, table) ?? {
      from: now - 3_600_000,
      to: now,
    };
    const range = rangeOf(query, now, table) ?? usual;
    return {
      query,
      resolved: { query, columns, range },
      views: VIEWS,
      columns,
      statsLoaded,
      loadStats,
      identifiers,
      table,
      zone,
      now,
      commit,
      openMenu,
    };
  }, [query, columns, statsLoaded, loadStats, identifiers, table, zone, now, commit, openMenu]);
  return (
    <ExploreContext.Provider value={explore}>
      <AppShell
        header={{ height: 52 }}
        navbar={{ width: 320, breakpoint: "sm", collapsed: { mobile: !sidebarOpen } }}
        padding="md"
      >
        <AppShell.Header px="md">
          <Group h="100%" wrap="nowrap" gap="sm">
            <Burger
              opened={sidebarOpen}
              onClick={sidebar.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Query panel"
            />
            {props.logo}
            <SearchBox />
            {props.tools}
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="sm">
          <Sidebar tables={tables} onZone={props.onZone} />
        </AppShell.Navbar>
        <AppShell.Main id="answer" tabIndex={-1}>
          <Box mb="md" className="views">
            <ViewChoice
              resolved={explore.resolved}
              views={VIEWS}
              onChange={(kind) => commit(withView(query, kind))}
            />
          </Box>
          <Box hiddenFrom="sm">
            <QueryLine onOpen={sidebar.open} />
          </Box>
          <IgnoredNote ignored={[...props.ignored, ...misfits]} />
          <ShownView resolved={explore.resolved} />
        </AppShell.Main>
      </AppShell>
      {mark && <MarkMenu key={mark.label} mark={mark} onClose={() => setMark(null)} />}
    </ExploreContext.Provider>
  );
}

/** The view, or why it cannot show these columns. */
function ShownView({ resolved }: { resolved: ResolvedQuery }) {
  const view = VIEWS.find(({ kind }) => kind === resolved.query.view.kind);
  if (!view) return null;
  const plan = view.plan(resolved);
  if ("spec" in plan) {
    return (
      <Suspense fallback={<Skeleton h={320} aria-label="Loading the view" />}>
        <view.component spec={plan.spec} />
      </Suspense>
    );
  }
  return <Misfit misfit={plan.misfit} repairs={plan.repairs ?? []} />;
}

/** Why a view cannot show the query, and what would help. */
function Misfit({ misfit, repairs }: { misfit: string; repairs: readonly Repair[] }) {
  const { loadStats, commit } = useExplore();
  // The best columns are known by their statistics.
  useEffect(loadStats, [loadStats]);
  return (
    <Stack align="center" gap="sm" py={48} data-testid="misfit">
      <Text c="dimmed" ta="center" className="wrap">
        {misfit}
      </Text>
      <Group justify="center" w="100%">
        {repairs.map(({ label, query }, at) => (
          <Button
            key={label}
            size="xs"
            maw="100%"
            title={label}
            variant={at === 0 ? "filled" : "default"}
            onClick={() => commit(query)}
          >
            {label}
          </Button>
        ))}
      </Group>
    </Stack>
  );
}
