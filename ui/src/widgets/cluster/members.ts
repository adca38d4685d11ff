// What is said of the members of a cluster.

import type {
  Cluster,
  ClusterLeaf,
  ClusterMachine,
  MemberProcess,
  MemberState,
} from "../../api/cluster";
import { spanWords } from "../../base/duration";
import { counted, percent } from "../../base/format";

/** How a member looks. */
export type Tone = "alive" | "restoring" | "stopping" | "silent";

const TONES: Record<MemberState, Tone> = {
  alive: "alive",
  "memory recovery": "restoring",
  "disk recovery": "restoring",
  prepare: "stopping",
  silent: "silent",
};

/** A state of a later release counts as restoring: something is not as usual. */
export const toneOf = (state: MemberState): Tone => TONES[state] ?? "restoring";

/** The worst first. */
export const TONE_ORDER: readonly Tone[] = ["silent", "stopping", "restoring", "alive"];

/** Words for a number of leaves: `1 silent`. */
export const TONE_WORDS: Record<Tone, string> = {
  alive: "alive",
  restoring: "restoring",
  stopping: "about to stop",
  silent: "silent",
};

/** All leaves, in the order of their machines. */
export const leavesOf = ({ machines }: Cluster): ClusterLeaf[] =>
  machines.flatMap((machine) => machine.leaves);

/** The name of a leaf among those of its machine: `leaf-0`. */
export function shortName(machine: Pick<ClusterMachine, "name">, leaf: string): string {
  return leaf.startsWith(`${machine.name}/`) ? leaf.slice(machine.name.length + 1) : leaf;
}

/** How far a leaf's rows are restored, from 0 to 1; null if they are not being restored. */
export function progressOf(leaf: Pick<ClusterLeaf, "state" | "coverage">): number | null {
  return toneOf(leaf.state) === "restoring" ? leaf.coverage : null;
}

/** Rows that answers lack. */
export const missingOf = ({ rows, rows_expected }: { rows: number; rows_expected: number }) =>
  Math.max(0, rows_expected - rows);

/** How long it is said of a member that it has started. */
const YOUNG_MS = 60_000;

/** The state of a member as people say it; `now` in milliseconds. */
export function stateWords(member: MemberProcess & Partial<ClusterLeaf>, now: number): string {
  const { state, since, started, release, coverage } = member;
  switch (toneOf(state)) {
    case "alive": {
      const age = started === null ? YOUNG_MS : now - Date.parse(started);
      return age < YOUNG_MS ? `alive for ${spanWords(age)}` : "alive";
    }
    case "restoring":
      return coverage === undefined ? state : `restoring ${percent(coverage)}`;
    case "stopping":
      return "about to stop";
    case "silent":
      if (release === null) return "gone";
      return since === null ? "silent" : `silent for ${spanWords(now - Date.parse(since))}`;
  }
}

/** How the whole cluster is, in a word, a few words, and a sentence. */
export interface Health {
  tone: "good" | "notice" | "bad";
  /** Empty if nothing is wrong. */
  words: string;
  sentence: string;
}

/** From this coverage down, answers carry a warning. */
const COVERAGE_ENOUGH = 0.995;

export function healthOf(cluster: Cluster): Health {
  const leaves = leavesOf(cluster);
  const silent = leaves.filter((leaf) => leaf.state === "silent").length;
  const parts = [
    cluster.coverage < 1 ? percent(cluster.coverage) : "",
    silent > 0 ? `${silent} silent` : "",
  ].filter((part) => part !== "");
  const [first] = cluster.problems;
  if (parts.length === 0 && first) parts.push(counted(cluster.problems.length, "problem"));
  const bad = silent > 0 || cluster.coverage <= COVERAGE_ENOUGH;
  const size = `${counted(cluster.machines.length, "machine")}, ${leafWords(leaves.length)}`;
  const fine = `${size}, all rows in answers`;
  return {
    tone: bad ? "bad" : parts.length > 0 ? "notice" : "good",
    words: parts.join(" · "),
    sentence: parts.length === 0 ? fine : (first ?? `${size}, ${parts.join(", ")}`),
  };
}

/** `1 leaf`, `6 leaves`. */
export const leafWords = (leaves: number) => (leaves === 1 ? "1 leaf" : `${leaves} leaves`);

/** The number of leaves in each tone that occurs, the worst first. */
export function countTones(leaves: readonly Pick<ClusterLeaf, "state">[]): [Tone, number][] {
  const counts = TONE_ORDER.map((tone): [Tone, number] => [
    tone,
    leaves.filter((leaf) => toneOf(leaf.state) === tone).length,
  ]);
  return counts.filter(([, leaves]) => leaves > 0);
}
