// The cluster, asked for again and again, and its last minutes.

import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { fetchCluster, type Problem } from "../api/client";
import type { Cluster } from "../api/cluster";
import { type Moment, remember } from "../widgets/cluster/history";

/** How often the cluster is asked for while it is shown, and while only its sign is. */
const SHOWN_MS = 1000;
const SIGN_MS = 5000;
/** Tables that are asked for. */
const TABLES = 20;

export interface ClusterPast {
  cluster: Cluster;
  /** The oldest moment first. */
  history: readonly Moment[];
}

const KEY = ["cluster"];

/** The cluster and its last minutes; `shown` where the page is about it. */
export function useCluster(shown: boolean): UseQueryResult<ClusterPast, Problem> {
  return useQuery<ClusterPast, Problem>({
    queryKey: KEY,
    queryFn: async ({ signal, client }) => {
      const cluster = await fetchCluster(TABLES, signal);
      const before = client.getQueryData<ClusterPast>(KEY);
      return { cluster, history: remember(before?.history ?? [], cluster) };
    },
    refetchInterval: shown ? SHOWN_MS : SIGN_MS,
    // It is asked again soon.
    retry: false,
    structuralSharing: false,
  });
}
