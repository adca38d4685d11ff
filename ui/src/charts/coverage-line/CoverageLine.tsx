import { useElementSize } from "@mantine/hooks";
import { useState } from "react";
import { percent } from "../../base/format";
import classes from "./CoverageLine.module.css";
import { downOf, floorOf, gridOf, gridWords, type LinePoint, pathOf, piecesOf } from "./line";

const HEIGHT = 132;
/** Room for half a line of text above the top value. */
const HEAD = 8;
/** Room for the times. */
const FOOT = 18;
/** Room for the values, at the right. */
const SIDE = 46;

/** A time beneath the line: its words, and where it is from the left in percent. */
export interface Tick {
  x: number;
  words: string;
}

/** A share of rows over time, with the rows that are missing as an area above the line. */
export function CoverageLine(props: {
  points: readonly LinePoint[];
  /** Points further apart, in percent, are not connected. */
  gap: number;
  ticks: readonly Tick[];
  /** What it shows, for those who do not see it. */
  words: string;
  /** The words for a moment under the pointer. */
  timeOf: (x: number) => string;
}) {
  const { points, gap, ticks, words, timeOf } = props;
  const { ref, width: whole } = useElementSize();
  const [pointed, setPointed] = useState<LinePoint | null>(null);
  const [width, height] = [Math.max(1, whole - SIDE), HEIGHT - HEAD - FOOT];
  const floor = floorOf(points);
  const pieces = piecesOf(points, gap);
  const marked = pointed ?? points.at(-1);
  const point = (event: React.PointerEvent<SVGSVGElement>) => {
    const x = ((event.clientX - event.currentTarget.getBoundingClientRect().left) / width) * 100;
    setPointed(points.findLast((it) => it.x <= x) ?? null);
  };
  return (
    <div ref={ref} className={classes.frame}>
      <svg
        role="img"
        aria-label={words}
        width="100%"
        height={HEIGHT}
        className={classes.chart}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        <g transform={`translate(0 ${HEAD})`}>
          {gridOf(floor).map((value) => (
            <g key={value} transform={`translate(0 ${downOf(value, floor) * height})`}>
              <line x2={width} className={classes.grid} />
              <text x={width + 6} dy="0.35em">
                {gridWords(value)}
              </text>
            </g>
          ))}
          {ticks.map(({ x, words: time }) => (
            <text
              key={time}
              x={(x / 100) * width}
              y={height + FOOT - 4}
              textAnchor={x >= 100 ? "end" : "middle"}
            >
              {time}
            </text>
          ))}
          {pieces.map((piece) => (
            <Piece key={piece[0]?.x} path={pathOf(piece, floor, width, height)} />
          ))}
          {marked && (
            <circle
              cx={(marked.x / 100) * width}
              cy={downOf(marked.coverage, floor) * height}
              r="4"
              className={classes.point}
            />
          )}
        </g>
      </svg>
      {pointed && (
        <output className={classes.tip} data-side={pointed.x > 50 ? "left" : "right"}>
          <b>{percent(pointed.coverage)}</b> {timeOf(pointed.x)}
        </output>
      )}
    </div>
  );
}

/** A connected piece: the line, and the area from it up to 100 %. */
function Piece({ path }: { path: string }) {
  const start = /^M([\d.-]+)/.exec(path)?.[1] ?? "0";
  return (
    <>
      <path d={`${path}V0H${start}Z`} className={classes.missing} />
      <path d={path} className={classes.line} />
    </>
  );
}
