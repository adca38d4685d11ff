// The tooltip of a chart. React writes its texts, so that event data stays text and never becomes
// markup.

import { type ReactNode, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";
import styles from "./echart.module.css";

/** A point of the window, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface TipLine {
  readonly key: string;
  readonly colour: string;
  readonly name: string;
  /** As many for each line. */
  readonly values: readonly string[];
  readonly strong?: boolean;
  /** Rests on too few rows to lean on. */
  readonly weak?: boolean;
}

/** A tooltip beside a point, kept within the window. */
export function Tip(props: {
  at: Point;
  head: string;
  note?: string;
  lines: readonly TipLine[];
  /** Names of the columns of values; none to leave them out. */
  columns?: readonly string[];
  foot?: string;
}) {
  const { at, head, note, lines, columns = [], foot } = props;
  const values = Math.max(1, ...lines.map((line) => line.values.length));
  return (
    <Floating at={at}>
      <div className={styles.head}>
        <span>{head}</span>
        {note && <span className={styles.faint}>{note}</span>}
      </div>
      <div className={styles.lines} style={{ "--values": values } as React.CSSProperties}>
        {columns.length > 0 && (
          <>
            <span />
            <span />
            {columns.map((column) => (
              <span key={column} className={`${styles.number} ${styles.faint}`}>
                {column}
              </span>
            ))}
          </>
        )}
        {lines.map((line) => (
          <Line key={line.key} line={line} />
        ))}
      </div>
      {foot && <div className={styles.faint}>{foot}</div>}
    </Floating>
  );
}

function Line({ line }: { line: TipLine }) {
  const weight = line.strong ? (styles.strong ?? "") : "";
  return (
    <>
      <i style={{ background: line.colour }} />
      <span className={`${styles.name} ${weight}`}>{line.name}</span>
      {line.values.map((value, at) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a value is known by its column
          key={at}
          className={`${styles.number} ${at === 0 ? weight : styles.faint} ${line.weak ? styles.faint : ""}`}
        >
          {value}
        </span>
      ))}
    </>
  );
}

const GAP = 14;

function Floating({ at, children }: { at: Point; children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  // Placed once its size is known, before it is painted.
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    const { offsetWidth: width, offsetHeight: height } = box;
    const { innerWidth, innerHeight } = window;
    const right = at.x + GAP + width <= innerWidth - 4;
    const left = at.x - GAP - width >= 4;
    const x = right ? at.x + GAP : left ? at.x - GAP - width : (innerWidth - width) / 2;
    // On a narrow window there is no room beside the point: above it then, or below.
    const beside = at.y - height / 3;
    const above = at.y - height - GAP;
    const y = right || left ? beside : above >= 4 ? above : at.y + GAP;
    const top = Math.max(4, Math.min(y, innerHeight - height - 4));
    box.style.transform = `translate(${Math.round(Math.max(4, x))}px, ${Math.round(top)}px)`;
  });
  // Not Mantine's Portal: that one mounts a moment later, when the layout effect has passed.
  return createPortal(
    <div ref={ref} className={styles.tip} aria-hidden>
      {children}
    </div>,
    document.body,
  );
}
