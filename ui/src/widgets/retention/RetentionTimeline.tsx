import { useId } from "react";
import classes from "./Retention.module.css";
import type { Timeline } from "./timeline";

const LANE = 15;
const BAR = 16;
/** Room beneath the bar for its ends. */
const FOOT = 16;

/** A picture of the table's time: which rows are how, and at which age what happens to them. */
export function RetentionTimeline(props: {
  timeline: Timeline;
  /** What it shows, for those who do not see it. */
  words: string;
  /** When the first row was, or that there is none. */
  start: string;
}) {
  const { timeline, words, start } = props;
  const rows = useId();
  const top = timeline.marks.length * LANE + 2;
  const foot = top + BAR + FOOT - 4;
  return (
    <svg
      role="img"
      aria-label={words}
      width="100%"
      height={top + BAR + FOOT}
      className={classes.timeline}
    >
      <defs>
        <pattern id={rows} width="5" height="5" patternUnits="userSpaceOnUse">
          <rect width="2" height="5" className={classes.full} />
        </pattern>
      </defs>
      <rect y={top} width="100%" height={BAR} rx="3" className={classes.track} />
      {timeline.parts.map(({ tone, from, to }) => (
        <rect
          key={from}
          x={`${Math.min(from, 99)}%`}
          y={top}
          width={`${Math.max(to - from, 1)}%`}
          height={BAR}
          className={classes[tone]}
          {...(tone === "sampled" ? { fill: `url(#${rows})` } : {})}
        />
      ))}
      {timeline.marks.map(({ text, x }, lane) => (
        <line
          key={text}
          x1={`${x}%`}
          x2={`${x}%`}
          y1={lane * LANE + 3}
          y2={top + BAR + 2}
          className={classes.mark}
        />
      ))}
      {timeline.marks.map(({ text, x }, lane) => (
        <text key={text} x={`${x}%`} y={lane * LANE + 12} {...aside(x)}>
          {text}
        </text>
      ))}
      <text {...placed(timeline.first)} y={foot}>
        {start}
      </text>
      <text x="100%" y={foot} textAnchor="end">
        now
      </text>
    </svg>
  );
}

/** A label stands at the side of its line where there is more room. */
const aside = (x: number) => (x < 50 ? { dx: 4 } : { dx: -4, textAnchor: "end" as const });

/** Beneath the first row, and clear of the end. */
function placed(first: number | null) {
  if (first === null || first < 45) return { x: `${first ?? 0}%` };
  return { x: `${Math.min(first, 88)}%`, textAnchor: "end" as const };
}
