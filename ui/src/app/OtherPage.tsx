// The pages beside that of the query. Each is a chunk that is loaded when it is shown.

import { AppShell, Center, Group, Loader } from "@mantine/core";
import { type ReactNode, Suspense } from "react";
import type { Table } from "../api/types";
import { lazyPart } from "../base/part";
import type { Zone } from "../base/zone";
import { LoadingPart } from "../widgets/LoadingPart";
import { go, type PageName } from "./address";

const BoardPages = lazyPart(() => import("../boards/BoardPages"));
const ClusterPage = lazyPart(() => import("./ClusterPage"));
const FunctionsPage = lazyPart(() => import("./FunctionsPage"));
const HomePage = lazyPart(async () => ({ default: (await import("./home/HomePage")).HomePage }));

/** The name of a page; null for that of the query. */
export function pageTitle(page: PageName, search: string): string | null {
  switch (page) {
    case "query":
      return null;
    case "home":
      return "Home";
    case "cluster":
      return "Cluster";
    case "functions":
      return "Functions";
    case "snapshot":
      return "Frozen answer";
    default:
      return new URLSearchParams(search).get("dashboard") ?? "Dashboards";
  }
}

/** Whether a page can be drawn before the tables are known. */
export const needsNoTables = (page: PageName): boolean =>
  page === "cluster" || page === "functions";

/** A page beside that of the query. */
export function OtherPage(props: {
  page: Exclude<PageName, "query">;
  search: string;
  tables: Table[];
  zone: Zone;
  onZone: (zone: Zone) => void;
  onOpen: (table: string) => void;
  logo: ReactNode;
  tools: ReactNode;
}) {
  const { logo, tools, ...shown } = props;
  return (
    <AppShell header={{ height: 52 }} padding="md">
      <AppShell.Header px="md">
        <Group h="100%" wrap="nowrap" gap="sm">
          {logo}
          {tools}
        </Group>
      </AppShell.Header>
      <AppShell.Main id="answer" tabIndex={-1}>
        <Suspense
          fallback={
            <LoadingPart>
              <Center mih="60vh">
                <Loader size="sm" aria-label="Loading" />
              </Center>
            </LoadingPart>
          }
        >
          <Content {...shown} />
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}

function Content(props: Omit<Parameters<typeof OtherPage>[0], "logo" | "tools">) {
  const { page, search, tables, zone, onZone, onOpen } = props;
  switch (page) {
    case "home":
      return <HomePage tables={tables} zone={zone} onOpen={onOpen} />;
    case "cluster":
      return <ClusterPage zone={zone} onOpen={onOpen} />;
    case "functions":
      return <FunctionsPage />;
    default:
      return <BoardPages {...{ page, search, tables, zone, onZone, go }} />;
  }
}
