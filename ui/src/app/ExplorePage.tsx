import { AppShell, Box, Burger, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import type { Column, Table } from "../api/types";
import type { Zone } from "../base/zone";
import { IgnoredNote } from "../explore/IgnoredNote";
import { QueryLine } from "../explore/QueryLine";
import { QueryScope } from "../explore/QueryScope";
import { useRefetchWhileRecovering } from "../explore/refetchWhileRecovering";
import { SearchBox } from "../explore/SearchBox";
import { ShownView } from "../explore/ShownView";
import { Sidebar } from "../explore/Sidebar";
import type { Query } from "../query/query";
import { type IgnoredPart, withView } from "../query/viewManifest";
import { widenedBucket } from "../query/widenedBucket";
import { VIEWS } from "../views/registry";
import { useFirstPaint } from "./firstPaint";
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
  useRefetchWhileRecovering(table);
  const [sidebarOpen, sidebar] = useDisclosure(false);
  // The answer comes first: the fields beside it are as much work to draw.
  const isAnswerPainted = useFirstPaint();
  return (
    <QueryScope
      query={props.query}
      table={table}
      columns={props.columns}
      views={VIEWS}
      now={now}
      zone={zone}
      commit={commit}
    >
      {({ query, resolved }, misfits) => (
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
            {isAnswerPainted && <Sidebar tables={tables} onZone={props.onZone} />}
          </AppShell.Navbar>
          <AppShell.Main id="answer" tabIndex={-1}>
            <Box mb="md" className="views">
              <ViewChoice
                resolved={resolved}
                views={VIEWS}
                onChange={(kind) => commit(withView(query, kind))}
              />
            </Box>
            <Box hiddenFrom="sm">
              <QueryLine onOpen={sidebar.open} />
            </Box>
            <IgnoredNote
              ignored={[...props.ignored, ...misfits, ...widenedBucket(query, resolved.range)]}
            />
            <ShownView />
          </AppShell.Main>
        </AppShell>
      )}
    </QueryScope>
  );
}
