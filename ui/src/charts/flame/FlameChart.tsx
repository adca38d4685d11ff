import { useComputedColorScheme } from "@mantine/core";
import { type KeyboardEvent, useRef, useState } from "react";
import { percent } from "../../base/format";
import type { Point } from "../echart-tip";
import { cellColour } from "../heat/ramp";
import { buttonOf, type Mark, type Measured, markText, useMarkTip } from "../marks";
import styles from "./flame.module.css";
import { type Frame, growth, neighbour } from "./tree";

const ROW = 20;
/** Narrower frames have no text; and those below are not drawn at all. */
const [THIN, LEAST] = [0.012, 0.0004];

/** Beginnings of vectors as frames: the root on top, and below each frame how it goes on. */
export function FlameChart(props: {
  frames: readonly Frame[];
  measured: Measured;
  nameOf: (frame: Frame) => string;
  onPick: (frame: Frame, point: Point) => void;
}) {
  const { frames, measured, nameOf, onPick } = props;
  const dark = useComputedColorScheme("light") === "dark";
  const { tip, over, clear } = useMarkTip(measured);
  const ground = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState("[]");
  const [root] = frames;
  if (!root) return null;
  const drawn = frames.filter(({ width }) => width >= LEAST);
  const reached = drawn.some(({ key }) => key === active) ? active : root.key;
  const depth = drawn.reduce((most, frame) => Math.max(most, frame.depth), 0);
  const move = (event: KeyboardEvent) => {
    const here = drawn.find(({ key }) => key === reached);
    const next = here && neighbour(drawn, here, event.key);
    if (!next) return;
    event.preventDefault();
    setActive(next.key);
    const place = drawn.indexOf(next);
    ground.current?.querySelectorAll<HTMLElement>("[data-frame]")[place]?.focus();
  };
  return (
    <div className={styles.scroll}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the frames in it take the focus */}
      <div
        ref={ground}
        className={styles.flame}
        style={{ height: (depth + 1) * ROW }}
        onKeyDown={move}
      >
        {drawn.map((frame) => {
          const mark = markOf(frame, nameOf(frame));
          const colour = colourOf(frame, root, dark);
          const press = (point: Point) => {
            clear();
            onPick(frame, point);
          };
          const share = root.value > 0 ? `, ${percent(frame.value / root.value)}` : "";
          return (
            <div
              key={frame.key}
              className={styles.frame}
              data-frame
              data-rest={frame.isRest}
              data-thin={frame.width < THIN}
              data-dark={
                frame.before !== null && (dark ? colour.strength < 0.45 : colour.strength > 0.55)
              }
              style={{
                top: frame.depth * ROW,
                left: `${frame.left * 100}%`,
                width: `${frame.width * 100}%`,
                ...(frame.isRest ? {} : { background: colour.css }),
              }}
              {...buttonOf(`${markText(mark, measured)}${share}`, press)}
              {...over({ ...mark, colour: colour.css }, frame.isRest ? "" : levelText(frame))}
              tabIndex={frame.key === reached ? 0 : -1}
            >
              {frame.width >= THIN && mark.label}
            </div>
          );
        })}
      </div>
      {tip}
    </div>
  );
}

const levelText = ({ depth }: Frame) => (depth === 0 ? "" : `level ${depth}`);

const markOf = (frame: Frame, label: string): Mark => ({
  key: frame.key,
  label,
  value: frame.value,
  before: frame.before,
  colour: "",
  samples: frame.samples,
  isOther: frame.isRest,
});

/** Warm and by its name; compared, by how its share grew. */
function colourOf(frame: Frame, root: Frame, dark: boolean): { css: string; strength: number } {
  if (frame.before !== null) {
    const grown = growth(frame, root);
    const strength = Math.sqrt(Math.abs(grown));
    // Orange grew and blue shrank, as is usual of flame graphs.
    return { css: cellColour(grown > 0 ? -strength : strength, true, dark), strength };
  }
  let hash = 7;
  for (const letter of frame.path.at(-1) ?? "") hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
  return { css: `hsl(${16 + (hash % 36)} ${70 + (hash % 20)}% ${60 + (hash % 13)}%)`, strength: 0 };
}
