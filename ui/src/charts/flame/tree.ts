// From the answer about the beginnings of vectors to frames of a flame graph.

import { numberOf } from "../../api/client";
import type { Answer } from "../../api/types";

/** A beginning of the vectors, drawn as wide as the events are that have it. */
export interface Frame {
  readonly key: string;
  /** The elements from the first on; none for the root. */
  readonly path: readonly string[];
  /** What the smaller frames below the path come to, instead of one of them. */
  readonly isRest: boolean;
  readonly value: number;
  /** At the compared time; null where nothing is compared. */
  readonly before: number | null;
  readonly samples: number;
  readonly depth: number;
  /** Of the width of the root, from 0 to 1. */
  readonly left: number;
  readonly width: number;
  /** The key of the frame above; empty for the root. */
  readonly parent: string;
}

interface Node {
  path: string[];
  isRest: boolean;
  now: number;
  before: number;
  samples: number;
  children: Node[];
}

/** All frames of an answer with columns (side,) path, value …; the root first, then by depth. */
export function framesOf(answer: Answer): Frame[] {
  const compared = answer.columns[0]?.name === "side";
  const nodes = nodesOf(answer, compared ? 1 : 0);
  const root = nodes.get("[]");
  if (!root) return [];
  for (const node of nodes.values()) {
    if (node === root) continue;
    const above = node.isRest ? node.path : node.path.slice(0, -1);
    nodes.get(JSON.stringify(above))?.children.push(node);
  }
  const size = (node: Node) => node.now + (compared ? node.before : 0);
  const whole = size(root);
  const frames: Frame[] = [];
  let row: { node: Node; left: number; parent: string }[] = [{ node: root, left: 0, parent: "" }];
  for (let depth = 0; row.length > 0; depth++) {
    const below: typeof row = [];
    for (const { node, left, parent } of row) {
      const key = keyOf(node);
      frames.push({
        key,
        path: node.path,
        isRest: node.isRest,
        value: node.now,
        before: compared ? node.before : null,
        samples: node.samples,
        depth,
        left,
        width: whole > 0 ? size(node) / whole : 0,
        parent,
      });
      let at = left;
      for (const child of node.children.sort((a, b) => order(a, b, size))) {
        below.push({ node: child, left: at, parent: key });
        at += whole > 0 ? size(child) / whole : 0;
      }
    }
    row = below;
  }
  return frames;
}

const keyOf = ({ path, isRest }: { path: readonly string[]; isRest: boolean }) =>
  JSON.stringify(path) + (isRest ? " rest" : "");

/** The largest first, so that the widest frames are at the left; the rest last. */
function order(a: Node, b: Node, size: (node: Node) => number): number {
  return Number(a.isRest) - Number(b.isRest) || size(b) - size(a) || (keyOf(a) < keyOf(b) ? -1 : 1);
}

function nodesOf(answer: Answer, first: number): Map<string, Node> {
  const nodes = new Map<string, Node>();
  answer.rows.forEach((row, at) => {
    const cell = row[first];
    if (!Array.isArray(cell)) return;
    const path = cell.map(String);
    const isRest = answer.other?.[at] ?? false;
    const key = keyOf({ path, isRest });
    const node = nodes.get(key) ?? { path, isRest, now: 0, before: 0, samples: 0, children: [] };
    nodes.set(key, node);
    const value = Math.max(0, numberOf(row[first + 1]) ?? 0);
    if (first === 1 && row[0] === "before") node.before += value;
    else {
      node.now += value;
      node.samples += answer.samples?.[at] ?? 0;
    }
  });
  return nodes;
}

/** By how much the share of a frame in its root grew, from -1 to 1; 0 where nothing is compared. */
export function growth(frame: Frame, root: Frame): number {
  if (frame.before === null) return 0;
  const now = root.value > 0 ? frame.value / root.value : 0;
  const before = (root.before ?? 0) > 0 ? frame.before / (root.before ?? 1) : 0;
  return now + before > 0 ? (now - before) / Math.max(now, before) : 0;
}

/** The frame that an arrow key leads to; null where there is none. */
export function neighbour(frames: readonly Frame[], of: Frame, key: string): Frame | null {
  const row = frames.filter(({ depth }) => depth === of.depth);
  const place = row.indexOf(of);
  if (key === "ArrowLeft") return row[place - 1] ?? null;
  if (key === "ArrowRight") return row[place + 1] ?? null;
  if (key === "ArrowUp") return frames.find((it) => it.key === of.parent) ?? null;
  if (key === "ArrowDown") return frames.find((it) => it.parent === of.key) ?? null;
  return null;
}
