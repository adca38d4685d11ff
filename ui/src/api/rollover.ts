// The answer of /v1/rollover.

/** Leaves at one moment of a rollover, and the share of rows in answers until the next one. */
export interface RolloverMoment {
  at: string;
  old: number;
  rolling: number;
  new: number;
  /** From 0 to 1. */
  coverage: number;
}

export interface RollingLeaf {
  name: string;
  since: string;
  /** Whether it did not come back in time, or could not be asked. */
  failed: boolean;
}

export interface Rollover {
  /** Stopping: no more leaves are restarted. Stopped: it ended before all leaves were new. */
  phase: "running" | "stopping" | "stopped" | "done";
  /** Why it stops or has stopped, in a sentence. */
  reason: string | null;
  begun: string;
  /** When it examined the cluster last; its end if it has ended. */
  at: string;
  share: number;
  coverage_floor: number;
  stop_seconds: number;
  started_before: string | null;
  /** The `started_before` of a rollover that continues this one. */
  resume_from: string;
  old: number;
  rolling: RollingLeaf[];
  new: number;
  /** Of the cluster, from 0 to 1. */
  coverage: number;
  /** The oldest moment first. */
  history: RolloverMoment[];
}
