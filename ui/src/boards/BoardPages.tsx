// The pages of what people save; one chunk, which is loaded when one of them is shown.

import { AppShell, Group } from "@mantine/core";
import type { ReactNode } from "react";
import type { Table } from "../api/types";
import type { Zone } from "../base/zone";
import { DashboardPage } from "./DashboardPage";
import { DashboardsPage } from "./DashboardsPage";
import { SnapshotPage } from "./SnapshotPage";

/** A page of dashboards, or a frozen answer. */
export default function BoardPages(props: {
  page: "dashboards" | "dashboard" | "snapshot";
  search: string;
  tables: readonly Table[];
  zone: Zone;
  onZone: (zone: Zone) => void;
  go: (url: string, replace?: boolean) => void;
  logo: ReactNode;
  tools: ReactNode;
}) {
  const { page, logo, tools } = props;
  return (
    <AppShell header={{ height: 52 }} padding="md">
      <AppShell.Header px="md">
        <Group h="100%" wrap="nowrap" gap="sm">
          {logo}
          {tools}
        </Group>
      </AppShell.Header>
      <AppShell.Main id="answer" tabIndex={-1}>
        {page === "dashboards" && <DashboardsPage go={props.go} />}
        {page === "dashboard" && <DashboardPage {...props} />}
        {page === "snapshot" && <SnapshotPage {...props} />}
      </AppShell.Main>
    </AppShell>
  );
}
