// Stages of a sankey diagram: the values of each column, and the flows between neighbours. Laid out
// by d3-sankey.

import { type SankeyGraph, sankey, sankeyLinkHorizontal } from "d3-sankey";

/** A group that flows through all stages. */
export interface Flow {
  readonly texts: readonly string[];
  readonly value: number;
  readonly before: number | null;
  readonly samples: number;
}

export interface StageNode {
  readonly key: string;
  readonly stage: number;
  readonly label: string;
  /** Whether it sums up the smaller values of its stage. */
  readonly isOther: boolean;
  readonly value: number;
  readonly before: number | null;
  readonly samples: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface StageLink {
  readonly key: string;
  readonly from: StageNode;
  readonly to: StageNode;
  readonly value: number;
  readonly before: number | null;
  readonly samples: number;
  readonly path: string;
  /** How thick it is, in pixels. */
  readonly thick: number;
}

/** More values of a stage are summed up. */
const NODES_MOST = 12;
const [NODE_WIDTH, NODE_GAP] = [12, 10];
/** Stands for the smaller values; no text of a value begins so. */
const OTHER = "\u0000other";

type Sum = { value: number; before: number | null; samples: number };
interface RawNode extends Sum {
  key: string;
  stage: number;
  label: string;
  isOther: boolean;
}
interface RawLink extends Sum {
  source: string;
  target: string;
}

/** The stages and the flows between them within a box. */
export function sankeyOf(flows: readonly Flow[], stages: number, width: number, height: number) {
  const drawn = flows.filter(({ value }) => value > 0);
  if (drawn.length === 0 || stages < 2) return { nodes: [], links: [] };
  const named = Array.from({ length: stages }, (_, stage) => largest(drawn, stage));
  const nodes = new Map<string, RawNode>();
  const links = new Map<string, RawLink>();
  for (const flow of drawn) {
    const path = flow.texts.map((text, stage) => {
      const isOther = !named[stage]?.has(text);
      const key = `${stage} ${isOther ? OTHER : text}`;
      const start = { key, stage, label: isOther ? "Other" : text, isOther, ...NOTHING };
      add(nodes, key, start, flow);
      return key;
    });
    for (let stage = 1; stage < path.length; stage++) {
      const [source = "", target = ""] = [path[stage - 1], path[stage]];
      add(links, JSON.stringify([source, target]), { source, target, ...NOTHING }, flow);
    }
  }
  const graph = sankey<RawNode, RawLink>()
    .nodeId(({ key }) => key)
    .nodeAlign(({ stage }) => stage)
    .nodeWidth(NODE_WIDTH)
    .nodePadding(NODE_GAP)
    .extent([
      [0, 4],
      [width, height - 4],
    ])({ nodes: [...nodes.values()], links: [...links.values()] });
  return placed(graph);
}

const NOTHING: Sum = { value: 0, before: null, samples: 0 };

function add<T extends Sum>(sums: Map<string, T>, key: string, start: T, flow: Flow): void {
  const sum = sums.get(key) ?? start;
  sums.set(key, sum);
  sum.value += flow.value;
  sum.samples += flow.samples;
  if (flow.before !== null) sum.before = (sum.before ?? 0) + flow.before;
}

/** The values of a stage that have a node of their own. */
function largest(flows: readonly Flow[], stage: number): Set<string> {
  const sums = new Map<string, number>();
  for (const { texts, value } of flows) {
    const text = texts[stage] ?? "";
    sums.set(text, (sums.get(text) ?? 0) + value);
  }
  const sorted = [...sums].sort((a, b) => b[1] - a[1]).map(([text]) => text);
  return new Set(sorted.slice(0, sorted.length > NODES_MOST ? NODES_MOST - 1 : NODES_MOST));
}

function placed(graph: SankeyGraph<RawNode, RawLink>): { nodes: StageNode[]; links: StageLink[] } {
  const nodes = graph.nodes.map((node): StageNode => {
    const { key, stage, label, isOther, before, samples, value = 0 } = node;
    const { x0 = 0, x1 = 0, y0 = 0, y1 = 0 } = node;
    const place = { left: x0, top: y0, width: x1 - x0, height: Math.max(1, y1 - y0) };
    return { key, stage, label, isOther, value, before, samples, ...place };
  });
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const draw = sankeyLinkHorizontal();
  const links = graph.links.flatMap((link): StageLink[] => {
    // The layout has put the nodes in the place of their keys.
    const end = (node: string | number | RawNode) =>
      typeof node === "object" ? node.key : String(node);
    const [from, to] = [byKey.get(end(link.source)), byKey.get(end(link.target))];
    if (!from || !to) return [];
    const { value, before, samples, width: thick = 1 } = link;
    const path = draw(link) ?? "";
    return [{ key: `${from.key} → ${to.key}`, from, to, value, before, samples, path, thick }];
  });
  return { nodes, links };
}
