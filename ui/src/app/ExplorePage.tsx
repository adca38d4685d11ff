import { AppShell, Box, Burger, Group, SegmentedControl, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { Column, Table } from "../api/types";
import type { Zone } from "../base/zone";
import { isIdentifier } from "../explore/columnRanking";
import { useColumnStats } from "../explore/columnStats";
import { type Explore, ExploreContext, type Mark } from "../explore/context";
import { fitToColumns } from "../explore/fitToColumns";
import { IgnoredNote } from "../explore/IgnoredNote";
import { MarkMenu } from "../explore/MarkMenu";
import { useRefetchWhileRecovering } from "../explore/refetchWhileRecovering";
import { SearchBox } from "../explore/SearchBox";
import { Sidebar } from "../explore/Sidebar";
import type { Query, View } from "../query/query";
import { rangeOf, rangeWithData } from "../query/time";
import type { IgnoredPart } from "../query/url";
import { VIEW_ENTRIES } from "../views/registry";

/** One table, one query: the knobs at the left, the answer at the right. */
export function ExplorePage(props: {
  query: Query;
  /** What of the address is not in the query. */
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
  const { columns, loaded: statsLoaded, load: loadStats } = useColumnStats(table, props.columns);
  const { query, misfits } = useMemo(
    () => fitToColumns(props.query, columns, now),
    [props.query, columns, now],
  );
  useRefetchWhileRecovering(table);
  const [mark, setMark] = useState<Mark | null>(null);
  const [sidebarOpen, sidebar] = useDisclosure(false);
  const openMenu = useCallback((it: Mark) => setMark(it), []);
  const identifiers = useMemo(
    () => new Set(columns.filter(isIdentifier).map((column) => column.name)),
    [columns],
  );
  const explore = useMemo<Explore>(() => {
    const usual = rangeOf({ ...query, ...rangeWithData(table, now) }, now) ?? {
      from: now - 3_600_000,
      to: now,
    };
    const range = rangeOf(query, now) ?? usual;
    return {
      query,
      resolved: { query, columns, range },
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
  const entry = VIEW_ENTRIES.find((it) => it.view === query.view);
  const View = entry?.component ?? (() => null);
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
            <ViewChoice view={query.view} onChange={(view) => commit({ ...query, view })} />
          </Box>
          <IgnoredNote ignored={[...props.ignored, ...misfits]} />
          <View />
        </AppShell.Main>
      </AppShell>
      {mark && <MarkMenu key={mark.label} mark={mark} onClose={() => setMark(null)} />}
    </ExploreContext.Provider>
  );
}

function ViewChoice({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="View"
      value={view}
      onChange={(value) => onChange(value as View)}
      data={VIEW_ENTRIES.map(({ view: value, label, icon: Icon }, at) => ({
        value,
        label: (
          <Tooltip label={`${label} (key ${at + 1})`} openDelay={500}>
            <Group gap={6} wrap="nowrap" px={4}>
              <Icon size={15} />
              <Text span size="xs" className={view === value ? "" : "wide-only"}>
                {label}
              </Text>
            </Group>
          </Tooltip>
        ),
      }))}
    />
  );
}
