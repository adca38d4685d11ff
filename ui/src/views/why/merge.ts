// Differences that are about the same rows, as one: `endpoint is /a`, also `app is null`.

import type { Condition, Difference, OfSides } from "../../api/explain";

/** A difference with further conditions that its rows meet as well. */
export interface MergedDifference extends Difference {
  readonly also: readonly Condition[];
}

/** Numbers of events that differ by a smaller part of them are of the same rows. */
const SAME = 0.01;

const isSame = (a: number, b: number) => Math.abs(a - b) <= SAME * Math.max(a, b);
const areSame = (a: OfSides, b: OfSides) =>
  isSame(a.selection, b.selection) && isSame(a.baseline, b.baseline);

/**
 * The differences in their order. Those with a condition in common and as many events on both sides
 * are one difference: with the fewest conditions, and all others after them.
 */
export function merged(differences: readonly Difference[]): MergedDifference[] {
  const kept: MergedDifference[] = [];
  for (const difference of differences) {
    const place = kept.findIndex(
      (it) => areSame(it.events, difference.events) && sharesCondition(it, difference),
    );
    const same = kept[place];
    if (!same) {
      kept.push({ ...difference, also: [] });
      continue;
    }
    const first = difference.conditions.length < same.conditions.length ? difference : same;
    const all = [...same.conditions, ...same.also, ...difference.conditions];
    const also = all.filter(
      ({ sql }, at) =>
        !first.conditions.some((it) => it.sql === sql) &&
        all.findIndex((it) => it.sql === sql) === at,
    );
    kept[place] = { ...first, also };
  }
  return kept;
}

const sharesCondition = (a: Difference, b: Difference) =>
  a.conditions.some(({ sql }) => b.conditions.some((it) => it.sql === sql));
