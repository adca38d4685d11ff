import { useComputedColorScheme } from "@mantine/core";
import { useMemo, useState } from "react";
import { counted } from "../../base/format";
import { inUnit } from "../../base/units";
import type { Point } from "../echart-tip";
import { cellColour } from "../heat/ramp";
import { buttonOf, changeText, type Mark, type Measured, markText, useMarkTip } from "../marks";
import { countryOf } from "./countries";
import { WORLD_HEIGHT, WORLD_WIDTH, worldOf } from "./geometry";
import styles from "./world.module.css";

/** A mark with where it is: a country's code or name, or a place. */
export interface Located {
  readonly mark: Mark;
  readonly country: string | null;
  readonly place: { readonly latitude: number; readonly longitude: number } | null;
}

/** As many marks without a place are listed at once. */
const UNPLACED = 12;

/** The world with a colour for each country, and a circle for each place. */
export function WorldMap(props: {
  located: readonly Located[];
  measured: Measured;
  /** How many pixels the map is high at most. */
  heightMost?: number | undefined;
  onPick: (mark: Mark, point: Point) => void;
}) {
  const { located, measured, heightMost, onPick } = props;
  const dark = useComputedColorScheme("light") === "dark";
  const { tip, over, clear } = useMarkTip(measured);
  const [all, setAll] = useState(false);
  const world = useMemo(worldOf, []);
  const strength = strengthOf(located, measured);
  const colour = (mark: Mark) => cellColour(strength(mark), measured.shift !== "", dark);
  const byId = new Map<number, Mark>();
  const unplaced: Mark[] = [];
  const drawn = new Set(world.shapes.map(({ id }) => id));
  for (const { mark, country, place } of located) {
    const shape = country === null ? null : countryOf(country);
    if (shape && drawn.has(shape.id)) {
      byId.set(shape.id, { ...mark, label: nameOf(mark.label, shape.name), colour: colour(mark) });
    } else if (!place) unplaced.push(mark);
  }
  const pressable = (mark: Mark) => ({
    ...buttonOf(markText(mark, measured), (point) => {
      clear();
      onPick(mark, point);
    }),
    ...over(mark),
  });
  return (
    <div className={styles.world}>
      <svg
        style={{ maxHeight: heightMost }}
        viewBox={`0 0 ${WORLD_WIDTH} ${WORLD_HEIGHT}`}
        aria-label={`${measured.label}, by place`}
      >
        <path d={world.lines} className={styles.lines} />
        {world.shapes.map(({ id, name, path }) => {
          const mark = byId.get(id);
          if (!mark) return <path key={`${id} ${name}`} d={path} className={styles.shape} />;
          return (
            <path
              key={`${id} ${name}`}
              d={path}
              className={styles.shape}
              style={{ fill: mark.colour }}
              {...pressable(mark)}
            />
          );
        })}
        {located.map(({ mark, place }) => {
          const at = place && world.project(place.longitude, place.latitude);
          if (!at) return null;
          const fill = measured.shift === "" ? "var(--mantine-primary-color-filled)" : colour(mark);
          const radius = 2 + 14 * Math.sqrt(Math.abs(size(mark, located)));
          return (
            <circle
              key={mark.key}
              cx={at[0]}
              cy={at[1]}
              r={radius}
              className={styles.place}
              style={{ fill }}
              {...pressable({ ...mark, colour: fill })}
            />
          );
        })}
      </svg>
      {unplaced.length > 0 && (
        <div className={styles.rest}>
          Not on the map:
          {unplaced.slice(0, all ? undefined : UNPLACED).map((mark) => (
            <span key={mark.key} {...pressable(mark)}>
              {mark.label} {inUnit(mark.value ?? 0, measured.unit)}
              {measured.shift === "" ? "" : ` ${changeText(mark, measured)}`}
            </span>
          ))}
          {!all && unplaced.length > UNPLACED && (
            <span {...buttonOf("Show all that are not on the map", () => setAll(true))}>
              and {counted(unplaced.length - UNPLACED, "other")}
            </span>
          )}
        </div>
      )}
      {tip}
    </div>
  );
}

const nameOf = (text: string, name: string) =>
  text.toLowerCase() === name.toLowerCase() ? name : `${name} (${text})`;

/** The value of a mark as a part of the largest. */
function size({ value }: Mark, located: readonly Located[]): number {
  const most = located.reduce((it, { mark }) => Math.max(it, Math.abs(mark.value ?? 0)), 0);
  return most > 0 ? (value ?? 0) / most : 0;
}

/** A change of this factor is as strong as it gets. */
const STRONGEST = 1;

/** The value as a part of the largest; compared, by which part of itself it changed. */
function strengthOf(located: readonly Located[], { shift }: Measured): (mark: Mark) => number {
  const most = located.reduce((it, { mark }) => Math.max(it, Math.abs(mark.value ?? 0)), 0);
  return ({ value, before }) => {
    if (shift === "") return most > 0 ? Math.sqrt(Math.abs(value ?? 0) / most) : 0;
    if (before === null || before === 0) return (value ?? 0) > 0 ? 1 : 0;
    const changed = ((value ?? 0) - before) / Math.abs(before) / STRONGEST;
    return Math.sign(changed) * Math.sqrt(Math.min(1, Math.abs(changed)));
  };
}
