import { useComputedColorScheme } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import { textOn } from "../../base/colours";
import { percent } from "../../base/format";
import { useChartWidth } from "../echart";
import type { Point } from "../echart-tip";
import { cellColour } from "../heat/ramp";
import { buttonOf, type Mark, type Measured, markText, useMarkTip } from "../marks";
import styles from "./flame.module.css";
import { type Frame, growth, neighbour } from "./tree";

const ROW = 20;
/** Narrower frames, in pixels, have no text. */
const THIN = 28;
/** Narrower ones, as a part of the whole, are not drawn. */
const LEAST = 0.0004;

/** Beginnings of vectors as frames: the root on top, and below each frame how it goes on. */
export function FlameChart(props: {
  frames: readonly Frame[];
  measured: Measured;
  nameOf: (frame: Frame) => string;
  /** How many pixels of it are in sight at most; the others are scrolled to. */
  heightMost?: number | undefined;
  onPick: (frame: Frame, point: Point) => void;
}) {
  const { frames, measured, nameOf, heightMost, onPick } = props;
  const dark = useComputedColorScheme("light") === "dark";
  const { tip, over, clear } = useMarkTip(measured);
  const [ground, pixels] = useChartWidth<HTMLDivElement>();
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
    <div className={styles.scroll} style={{ maxHeight: heightMost }}>
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
              data-thin={frame.width * pixels < THIN}
              style={{
                top: frame.depth * ROW,
                left: `${frame.left * 100}%`,
                width: `${frame.width * 100}%`,
                ...(frame.isRest ? {} : colour),
              }}
              {...buttonOf(`${markText(mark, measured)}${share}`, press)}
              {...over(
                { ...mark, colour: colour.background },
                frame.isRest ? "" : levelText(frame),
              )}
              tabIndex={frame.key === reached ? 0 : -1}
            >
              {frame.width * pixels >= THIN && mark.label}
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

/** The colours of a frame: warm and by its name; compared, by how its share grew. */
function colourOf(
  frame: Frame,
  root: Frame,
  dark: boolean,
): { background: string; color?: string } {
  if (frame.before !== null) {
    const grown = growth(frame, root);
    const strength = Math.sqrt(Math.abs(grown));
    // Orange grew and blue shrank, as is usual of flame graphs.
    const background = cellColour(grown > 0 ? -strength : strength, true, dark);
    return { background, color: textOn(background) };
  }
  let hash = 7;
  for (const letter of frame.path.at(-1) ?? "") hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
  return { background: `hsl(${16 + (hash % 36)} ${70 + (hash % 20)}% ${60 + (hash % 13)}%)` };
}
