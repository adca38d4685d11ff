import { useState } from "react";
import { percent } from "../../base/format";
import { inUnit } from "../../base/units";
import type { Point } from "../echart-tip";
import { buttonOf, changeText, type Mark, type Measured, markText, useMarkTip } from "../marks";
import { ringPath, type Slice, slicesOf } from "./layout";
import styles from "./pie.module.css";

const [OUTER, INNER] = [100, 60];
/** The ring of the time before, within the ring of now. */
const [OUTER_BEFORE, INNER_BEFORE] = [56, 46];

/** A ring of shares, and a legend. When compared, a thin ring within is the time before. */
export function PieChart(props: {
  marks: readonly Mark[];
  measured: Measured;
  /** Its height in pixels, where it is not as high as its legend. */
  height?: number | undefined;
  /** `shown` are the keys of all slices but the one of the others. */
  onPick: (mark: Mark, point: Point, shown: readonly string[]) => void;
}) {
  const { marks, measured, height, onPick } = props;
  const { tip, over, clear } = useMarkTip(measured);
  const [strong, setStrong] = useState<string | null>(null);
  const slices = slicesOf(marks);
  const compared = measured.shift !== "";
  const before = compared ? beforeOf(slices) : [];
  const whole = slices.reduce((sum, { mark }) => sum + (mark.value ?? 0), 0);
  const press = (mark: Mark) => (point: Point) => {
    clear();
    const named = slices.filter((slice) => !slice.mark.isOther);
    onPick(
      mark,
      point,
      named.map((slice) => slice.mark.key),
    );
  };
  return (
    <div className={styles.pie} data-fitted={height !== undefined} style={{ height }}>
      <svg
        viewBox="-104 -104 208 208"
        className={styles.ring}
        aria-label={`Shares of ${measured.label}`}
      >
        {slices.map(({ mark, from, to }) => (
          <path
            key={mark.key}
            d={ringPath(from, to, INNER, OUTER)}
            fill={mark.colour}
            data-strong={strong === mark.key}
            {...buttonOf(markText(mark, measured), press(mark))}
            {...over(mark)}
          />
        ))}
        {before.map(({ mark, from, to }) => (
          <path
            key={`${mark.key} before`}
            d={ringPath(from, to, INNER_BEFORE, OUTER_BEFORE)}
            fill={mark.colour}
            opacity={0.55}
            {...over(mark, "the time before")}
          />
        ))}
        <text y={2} fontSize={19} fontWeight={600}>
          {inUnit(whole, measured.unit)}
        </text>
        <text y={16} fontSize={9}>
          {measured.label.length > 20 ? "in all" : measured.label}
        </text>
      </svg>
      <div className={styles.legend} data-compared={compared}>
        {slices.map(({ mark, share }) => (
          <div
            key={mark.key}
            className={styles.entry}
            onPointerEnter={() => setStrong(mark.key)}
            onPointerLeave={() => setStrong(null)}
            {...buttonOf(`${markText(mark, measured)}, ${percent(share)}`, press(mark))}
          >
            <i style={{ background: mark.colour }} />
            <span dir="auto" title={mark.label}>
              {mark.label}
            </span>
            <span>{percent(share)}</span>
            <span>{inUnit(mark.value ?? 0, measured.unit)}</span>
            {compared && <span>{changeText(mark, measured)}</span>}
          </div>
        ))}
      </div>
      {tip}
    </div>
  );
}

/** The same marks in the same order, by their values before. */
function beforeOf(slices: readonly Slice[]): Slice[] {
  const earlier = slices.map(({ mark }) => ({ ...mark, value: mark.before }));
  const drawn = slicesOf(earlier);
  const byKey = new Map(slices.map(({ mark }) => [mark.key, mark]));
  return drawn.map((slice) => ({ ...slice, mark: byKey.get(slice.mark.key) ?? slice.mark }));
}
