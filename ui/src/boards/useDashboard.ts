// A dashboard of the server, the draft of its changes, and how they are saved.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "../api/client";
import {
  type Dashboard,
  fetchDashboard,
  putDashboard,
  type StoredDashboard,
} from "../api/documents";
import { useLeaveGuard } from "../widgets/leaving";

export const dashboardKey = (name: string) => ["dashboard", name];
export const VIEWS_KEY = ["saved-views"];
export const DASHBOARDS_KEY = ["dashboards"];
export const SNAPSHOTS_KEY = ["snapshots"];

export interface Editing {
  readonly draft: Dashboard;
  /** The version that the draft is based on. */
  readonly version: number;
}

/** The dashboard of a name, and its draft while it is edited. */
export function useDashboard(name: string) {
  const client = useQueryClient();
  const stored = useQuery<StoredDashboard, Problem>({
    queryKey: dashboardKey(name),
    queryFn: ({ signal }) => fetchDashboard(name, signal),
    staleTime: 10_000,
  });
  const [editing, setEditing] = useState<Editing | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const isChanged =
    editing !== null && JSON.stringify(editing.draft) !== JSON.stringify(stored.data?.dashboard);
  const leaving = useLeaveGuard(isChanged, (url) => isOfDashboard(url, name));
  const edit = () => {
    setProblem(null);
    if (stored.data) setEditing({ draft: stored.data.dashboard, version: stored.data.version });
  };
  const cancel = () => {
    setProblem(null);
    setEditing(null);
    void client.invalidateQueries({ queryKey: dashboardKey(name) });
  };
  /** Saves; `over` replaces whatever was saved meanwhile. Returns whether it is saved. */
  const save = async (dashboard: Dashboard, over: boolean): Promise<boolean> => {
    if (!editing) return false;
    setBusy(true);
    try {
      const current = over ? (await fetchDashboard(name)).version : editing.version;
      const saved = await putDashboard(dashboard, current);
      client.setQueryData(dashboardKey(name), saved);
      void client.invalidateQueries({ queryKey: DASHBOARDS_KEY });
      setEditing(null);
      setProblem(null);
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const draft = (change: (dashboard: Dashboard) => Dashboard) =>
    setEditing((it) => it && { ...it, draft: change(it.draft) });
  return { stored, editing, problem, busy, edit, cancel, save, draft, leaving };
}

/** Whether an address is of the dashboard of a name: its frame may change while it is edited. */
function isOfDashboard(url: string, name: string): boolean {
  const keys = new URLSearchParams(url);
  return keys.get("page") === "dashboard" && keys.get("dashboard") === name;
}
