import { OTHER_COLOUR, strokesOf } from "../../base/colours";
import { inUnit } from "../../base/units";
import { useChartWidth } from "../echart";
import type { Point } from "../echart-tip";
import { buttonOf, changeText, type Mark, type Measured, markText, useMarkTip } from "../marks";
import { type Flow, type StageLink, type StageNode, sankeyOf } from "./layout";
import styles from "./sankey.module.css";

/** Narrower, the labels of neighbouring stages would lie on each other. */
const STAGE_LEAST = 190;

/** Groups that flow from the values of one column to those of the next. */
export function SankeyChart(props: {
  flows: readonly Flow[];
  /** The names of the columns. */
  stages: readonly string[];
  measured: Measured;
  height: number;
  onNode: (node: StageNode, shown: readonly StageNode[], point: Point) => void;
  onLink: (link: StageLink, shown: readonly StageNode[], point: Point) => void;
}) {
  const { flows, stages, measured, height, onNode, onLink } = props;
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const { tip, over, clear } = useMarkTip(measured);
  const wide = Math.max(width, stages.length * STAGE_LEAST);
  const { nodes, links } = width > 0 ? sankeyOf(flows, stages.length, wide, height) : NONE;
  const colours = coloursOf(nodes);
  const pressed = (run: (point: Point) => void) => (point: Point) => {
    clear();
    run(point);
  };
  return (
    <div ref={ref} className={styles.frame}>
      <svg width={wide} height={height} aria-label={`${measured.label} by ${stages.join(", ")}`}>
        {links.map((link) => {
          const mark = markOfSum(link, `${link.from.label} → ${link.to.label}`, "");
          const colour = colours.get(link.from.key) ?? OTHER_COLOUR;
          return (
            <path
              key={link.key}
              className={styles.link}
              d={link.path}
              stroke={colour}
              strokeWidth={Math.max(1, link.thick)}
              {...buttonOf(
                markText(mark, measured),
                pressed((point) => onLink(link, nodes, point)),
              )}
              {...over({ ...mark, colour })}
            />
          );
        })}
        {nodes.map((node) => {
          const colour = colours.get(node.key) ?? OTHER_COLOUR;
          const mark = markOfSum(node, node.label, colour);
          return (
            <g
              key={node.key}
              className={styles.node}
              {...buttonOf(
                `${stages[node.stage]}: ${markText(mark, measured)}`,
                pressed((point) => onNode(node, nodes, point)),
              )}
              {...over(mark, stages[node.stage])}
            >
              <rect
                x={node.left}
                y={node.top}
                width={node.width}
                height={node.height}
                fill={colour}
              />
              <NodeText node={node} mark={mark} measured={measured} last={stages.length - 1} />
            </g>
          );
        })}
      </svg>
      {tip}
    </div>
  );
}

const NONE = { nodes: [], links: [] };

/** The name of a node, which is before nodes of the last stage, and after the others. */
function NodeText(props: { node: StageNode; mark: Mark; measured: Measured; last: number }) {
  const { node, mark, measured, last } = props;
  if (node.height < 7) return null;
  const isLast = node.stage === last;
  const name = node.label.length > 22 ? `${node.label.slice(0, 21)}…` : node.label;
  const changed = changeText(mark, measured);
  return (
    <text
      x={isLast ? node.left - 5 : node.left + node.width + 5}
      y={node.top + node.height / 2}
      dy="0.35em"
      textAnchor={isLast ? "end" : "start"}
    >
      {name} {inUnit(node.value, measured.unit)}
      {changed === null ? "" : ` ${changed}`}
    </text>
  );
}

const markOfSum = (sum: StageNode | StageLink, label: string, colour: string): Mark => ({
  key: sum.key,
  label,
  value: sum.value,
  before: sum.before,
  colour,
  samples: sum.samples,
  isOther: false,
});

function coloursOf(nodes: readonly StageNode[]): Map<string, string> {
  const names = [...new Set(nodes.filter(({ isOther }) => !isOther).map(({ key }) => key))].sort();
  const strokes = strokesOf(names);
  return new Map([...strokes].map(([key, { colour }]) => [key, colour]));
}
