// What stands on the home page between the tables and how to send events: one entry for each list
// of things that people have saved.

import type { ComponentType } from "react";
import { DashboardList, SnapshotList, ViewList } from "./SavedList";

/** Lists that load and draw themselves. */
export const SAVED_LISTS: readonly ComponentType[] = [DashboardList, ViewList, SnapshotList];
