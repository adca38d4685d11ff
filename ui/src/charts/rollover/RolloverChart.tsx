import { useElementSize } from "@mantine/hooks";
import classes from "./RolloverChart.module.css";
import { areaOf, mostOf, STAGES, type StackPoint } from "./stack";

const HEIGHT = 120;
const HEAD = 8;
const FOOT = 6;
/** Room for the numbers, at the right: as beside the coverage, so that both have one time scale. */
const SIDE = 46;

/** Old, rolling and new leaves over time, one above the other (Fast Database Restarts at Facebook,
 * figure 8). */
export function RolloverChart(props: {
  points: readonly StackPoint[];
  /** What it shows, for those who do not see it. */
  words: string;
}) {
  const { points, words } = props;
  const { ref, width: whole } = useElementSize();
  const [width, height] = [Math.max(1, whole - SIDE), HEIGHT - HEAD - FOOT];
  const most = mostOf(points);
  return (
    <div ref={ref} className={classes.frame}>
      <svg role="img" aria-label={words} width="100%" height={HEIGHT} className={classes.chart}>
        <g transform={`translate(0 ${HEAD})`}>
          {STAGES.map((stage, index) => (
            <path
              key={stage}
              d={areaOf(points, index, width, height)}
              className={classes.area}
              data-stage={stage}
            />
          ))}
          {[most, 0].map((value) => (
            <text key={value} x={width + 6} y={(1 - value / most) * height} dy="0.35em">
              {value}
            </text>
          ))}
        </g>
      </svg>
    </div>
  );
}
