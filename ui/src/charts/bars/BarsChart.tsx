import { inUnit } from "../../base/units";
import type { Point } from "../echart-tip";
import {
  buttonOf,
  changeText,
  FEW,
  type Mark,
  type Measured,
  markText,
  useMarkTip,
} from "../marks";
import styles from "./bars.module.css";
import { barHeight, barOf, barScale } from "./layout";

/** Horizontal bars, one for each mark; a line across a bar is its value before. */
export function BarsChart(props: {
  marks: readonly Mark[];
  measured: Measured;
  /** The height in pixels that the bars share, as far as they can be read then. */
  height?: number | undefined;
  onPick: (mark: Mark, point: Point) => void;
}) {
  const { marks, measured, height, onPick } = props;
  const { tip, over, clear } = useMarkTip(measured);
  const scale = barScale(marks);
  const compared = measured.shift !== "";
  return (
    <ul
      className={styles.bars}
      style={{ "--bar": `${barHeight(marks.length, height)}px` } as React.CSSProperties}
      data-compared={compared}
      aria-label={measured.label}
    >
      {marks.map((mark) => {
        const { left, width, before } = barOf(mark, scale);
        const press = (point: Point) => {
          clear();
          onPick(mark, point);
        };
        return (
          <li key={mark.key}>
            <div
              className={styles.row}
              data-few={!mark.isOther && mark.samples < FEW}
              {...buttonOf(markText(mark, measured), press)}
              {...over(mark)}
            >
              <span className={styles.name} dir="auto">
                {mark.label}
              </span>
              <span className={styles.track}>
                <i
                  style={{ left: `${left}%`, width: `${width}%`, background: mark.colour }}
                  data-negative={(mark.value ?? 0) < 0}
                />
                {compared && before !== null && (
                  <b style={{ left: `${before}%` }} aria-hidden="true" />
                )}
              </span>
              <span className={styles.value}>
                {mark.value === null ? "–" : inUnit(mark.value, measured.unit)}
              </span>
              {compared && <span className={styles.change}>{changeText(mark, measured)}</span>}
            </div>
          </li>
        );
      })}
      {tip}
    </ul>
  );
}
