// The pages of what people save; one chunk, which is loaded when one of them is shown.

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
}) {
  const { page } = props;
  const dashboard = new URLSearchParams(props.search).get("dashboard") ?? "";
  return (
    <>
      {page === "dashboards" && <DashboardsPage go={props.go} zone={props.zone} />}
      {page === "dashboard" && <DashboardPage key={dashboard} {...props} />}
      {page === "snapshot" && <SnapshotPage {...props} />}
    </>
  );
}
