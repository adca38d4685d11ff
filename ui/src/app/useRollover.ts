// The rollover of the cluster, asked for again and again.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { beginRollover, fetchRollover, type Problem, stopRollover } from "../api/client";
import type { Rollover } from "../api/rollover";
import { hasEnded } from "../widgets/rollover/words";

/** How often it is asked for while it runs, and while none runs. */
const RUNNING_MS = 1000;
const IDLE_MS = 5000;

const KEY = ["rollover"];

/** The rollover that runs, or the last one. */
export function useRollover() {
  return useQuery<Rollover | null, Problem>({
    queryKey: KEY,
    queryFn: ({ signal }) => fetchRollover(signal),
    refetchInterval: ({ state }) => (state.data && !hasEnded(state.data) ? RUNNING_MS : IDLE_MS),
    retry: false,
  });
}

/** What can be done about it. */
export function useRolloverActions() {
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: KEY });
  const begin = useMutation<void, Problem, string | null>({ mutationFn: beginRollover, onSuccess });
  const stop = useMutation<void, Problem>({ mutationFn: stopRollover, onSuccess });
  return { begin, stop };
}
