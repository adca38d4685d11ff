// The tiles of a treemap: nested by the keys of the groups, laid out by d3-hierarchy.

import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import type { Mark } from "../marks";

/** A group with the texts of its keys. */
export interface Leaf {
  readonly mark: Mark;
  readonly texts: readonly string[];
}

export interface Tile {
  readonly key: string;
  readonly label: string;
  /** How many keys it has in common with the groups in it; as many as a group has of a leaf. */
  readonly level: number;
  readonly isLeaf: boolean;
  /** The groups in it. */
  readonly leaves: readonly Leaf[];
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Node {
  key: string;
  label: string;
  leaf: Leaf | null;
  children: Node[];
}

/** Room for the name of a tile that has tiles in it. */
export const HEAD = 18;

/** Tiles within a box, the outer ones before those in them. */
export function tilesOf(leaves: readonly Leaf[], width: number, height: number): Tile[] {
  const root: Node = { key: "", label: "", leaf: null, children: [] };
  for (const leaf of leaves) {
    if (!((leaf.mark.value ?? 0) > 0)) continue;
    let node = root;
    for (const text of leaf.mark.isOther ? [] : leaf.texts.slice(0, -1)) {
      const key = `${node.key}${JSON.stringify(text)}`;
      let child = node.children.find((it) => it.key === key);
      if (!child) {
        child = { key, label: text, leaf: null, children: [] };
        node.children.push(child);
      }
      node = child;
    }
    const label = leaf.mark.isOther ? leaf.mark.label : (leaf.texts.at(-1) ?? "");
    node.children.push({ key: `leaf ${leaf.mark.key}`, label, leaf, children: [] });
  }
  const sized = hierarchy(root)
    .sum(({ leaf }) => leaf?.mark.value ?? 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const laid = treemap<Node>()
    .tile(treemapSquarify)
    .size([width, height])
    .paddingInner(1)
    .paddingTop((node) => (node.depth > 0 && node.children ? HEAD : 0))
    .round(true)(sized);
  return laid
    .descendants()
    .filter(({ depth }) => depth > 0)
    .map(({ data, depth, x0, y0, x1, y1, ...node }) => ({
      key: data.key,
      label: data.label,
      level: depth,
      isLeaf: data.leaf !== null,
      leaves: node.children ? leavesOf(data) : data.leaf ? [data.leaf] : [],
      left: x0,
      top: y0,
      width: x1 - x0,
      height: y1 - y0,
    }));
}

function leavesOf(node: Node): Leaf[] {
  return node.leaf ? [node.leaf] : node.children.flatMap(leavesOf);
}
