// What people save: dashboards, views and frozen answers.

import { bodyOf, send } from "./client";
import type { Answer, QuerySpec } from "./types";

/** One tile of a dashboard, in the grid of 12 columns. */
export interface Tile {
  readonly title?: string;
  /** The address of a query, without the `?`. */
  readonly query: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A word that stands for values in filters, as `$name`. */
export interface Variable {
  readonly name: string;
  /** Values between `|`; empty: filters with the variable are left out. */
  readonly value?: string;
  readonly table?: string;
  /** The column whose values are offered. */
  readonly column?: string;
}

export interface Dashboard {
  readonly name: string;
  readonly owner?: string;
  readonly description?: string;
  readonly from?: string;
  readonly to?: string;
  readonly compare?: string;
  readonly refresh?: string;
  /** Filters as the address spells them; all tiles have them. */
  readonly filters?: readonly string[];
  readonly variables?: readonly Variable[];
  readonly tiles: readonly Tile[];
}

export interface StoredDashboard {
  /** 0 in a file. */
  readonly version: number;
  /** The file that has the dashboard, which is read only then. */
  readonly file?: string;
  readonly dashboard: Dashboard;
}

export interface SavedView {
  readonly name: string;
  readonly owner?: string;
  readonly description?: string;
  readonly query: string;
}

export interface DashboardSummary {
  readonly name: string;
  readonly owner?: string;
  readonly description?: string;
  readonly tiles: number;
  readonly version: number;
  readonly file?: string;
}

export type SnapshotSummary = Omit<Snapshot, "answers"> & { readonly version: number };

export interface Snapshot {
  readonly name: string;
  readonly owner?: string;
  readonly description?: string;
  readonly query: string;
  /** When the server answered. */
  readonly taken: string;
  readonly answers: readonly { readonly request: unknown; readonly answer: Answer }[];
}

const headers = { "Content-Type": "application/json" };
const path = (kind: string, name: string) => `/v1/${kind}/${encodeURIComponent(name)}`;

/** All dashboards by name, and why files have none. */
export const fetchDashboards = (signal?: AbortSignal) =>
  send<{ dashboards: DashboardSummary[]; problems: string[] }>("/v1/dashboards", {}, signal);

export const fetchDashboard = (name: string, signal?: AbortSignal) =>
  send<StoredDashboard>(path("dashboards", name), {}, signal);

/** Saves a dashboard. It replaces `version`; 0 if there must be none of its name. */
export function putDashboard(dashboard: Dashboard, version: number): Promise<StoredDashboard> {
  const body = JSON.stringify({ ...dashboard, version });
  return send(path("dashboards", dashboard.name), { method: "PUT", headers, body });
}

/** Removes a dashboard that has this version. */
export const deleteDashboard = (name: string, version: number) =>
  send(`${path("dashboards", name)}?version=${version}`, { method: "DELETE" });

/** All saved views, by name. */
export const fetchViews = async (signal?: AbortSignal) =>
  (await send<{ views: (SavedView & { version: number })[] }>("/v1/views", {}, signal)).views;

/** Saves a view. It replaces `version`; 0 if there must be none of its name. */
export function putView(view: SavedView, version: number): Promise<unknown> {
  const body = JSON.stringify({ ...view, version });
  return send(path("views", view.name), { method: "PUT", headers, body });
}

/** Removes a saved view that has this version. */
export const deleteView = (name: string, version: number) =>
  send(`${path("views", name)}?version=${version}`, { method: "DELETE" });

/** Lets the server answer these queries, and keep the answers; returns their name. */
export async function freeze(query: string, specs: readonly QuerySpec[]): Promise<string> {
  const requests = specs.map((spec) => JSON.parse(bodyOf(spec)) as unknown);
  const body = JSON.stringify({ query, requests });
  const made = await send<{ snapshot: Snapshot }>("/v1/snapshots", {
    method: "POST",
    headers,
    body,
  });
  return made.snapshot.name;
}

/** What there is of frozen answers, the newest first. */
export async function fetchSnapshots(signal?: AbortSignal): Promise<SnapshotSummary[]> {
  const { snapshots } = await send<{ snapshots: SnapshotSummary[] }>("/v1/snapshots", {}, signal);
  return snapshots.toSorted((a, b) => (a.taken < b.taken ? 1 : -1));
}

/** Removes a frozen answer that has this version. */
export const deleteSnapshot = (name: string, version: number) =>
  send(`${path("snapshots", name)}?version=${version}`, { method: "DELETE" });

export const fetchSnapshot = async (name: string, signal?: AbortSignal) =>
  (await send<{ snapshot: Snapshot }>(path("snapshots", name), {}, signal)).snapshot;
