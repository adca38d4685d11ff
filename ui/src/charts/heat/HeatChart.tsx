import { useEffect, useMemo, useRef, useState } from "react";
import { change, exact } from "../../base/format";
import { inUnit, type Unit } from "../../base/units";
import { timeText, type Zone } from "../../base/zone";
import type { Range } from "../../query/time";
import { type Box, BoxGround, type BoxPoint } from "../box-ground";
import { type ChartOption, type ChartTheme, EChart, useChartTheme, useChartWidth } from "../echart";
import styles from "../echart.module.css";
import {
  fittingTicks,
  labelledAxis,
  type Plot,
  timeTicks,
  unitText,
  valueAxis,
} from "../echart-axes";
import { type Point, Tip } from "../echart-tip";
import { type Heat, rowValue, strengths } from "./data";
import { cellColour } from "./ramp";

/** Cells that were chosen: a time, and values from one to below another. */
export interface HeatBox {
  readonly range: Range;
  readonly from: number;
  readonly to: number;
}

interface HeatChartProps {
  readonly heat: Heat;
  readonly name: string;
  readonly unit: Unit | null;
  readonly zone: Zone;
  readonly height: number;
  readonly onPick: (box: HeatBox, point: Point) => void;
}

/** Time from left to right, values from below; a cell is the stronger, the more events it has. */
export function HeatChart(props: HeatChartProps) {
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const theme = useChartTheme();
  return (
    <div ref={ref} className={styles.frame} style={{ height: props.height }}>
      {theme && width > 0 && <SizedChart {...props} theme={theme} width={width} />}
    </div>
  );
}

const [TOP, RIGHT, BOTTOM] = [8, 14, 26];

function SizedChart(props: HeatChartProps & { theme: ChartTheme; width: number }) {
  const { heat, name, unit, zone, height, width, theme, onPick } = props;
  const [place, setPlace] = useState<BoxPoint | null>(null);
  const { option, plot } = useMemo(
    () => axesOf(heat, { theme, zone, width, height, unit }),
    [heat, theme, zone, width, height, unit],
  );
  const cell = { x: plot.width / heat.starts.length, y: plot.height / heat.rows };
  const cellOf = ({ x, y }: { x: number; y: number }) => ({
    bucket: Math.min(heat.starts.length - 1, Math.floor(x / cell.x)),
    row: heat.rows - 1 - Math.min(heat.rows - 1, Math.floor(y / cell.y)),
  });
  const snap = (box: Box): Box => ({
    left: Math.floor(box.left / cell.x) * cell.x,
    top: Math.floor(box.top / cell.y) * cell.y,
    right: Math.min(plot.width, Math.ceil(box.right / cell.x) * cell.x),
    bottom: Math.min(plot.height, Math.ceil(box.bottom / cell.y) * cell.y),
  });
  const choose = (first: { bucket: number; row: number }, last: typeof first, at: Point) =>
    onPick(
      {
        range: {
          from: heat.starts[first.bucket] ?? 0,
          to: heat.starts[last.bucket + 1] ?? (heat.starts[last.bucket] ?? 0) + heat.length,
        },
        from: rowValue(heat, first.row),
        to: rowValue(heat, last.row + 1),
      },
      at,
    );
  const over = place && cellOf(place);
  const text = over ? cellText(heat, over, { name, unit, zone }) : null;
  return (
    <>
      <EChart option={option} width={width} height={height} label={`${name} over time`} />
      <Cells heat={heat} plot={plot} theme={theme} />
      <BoxGround
        plot={plot}
        step={cell}
        place={place}
        onPlace={setPlace}
        snap={snap}
        onClick={(at) => choose(cellOf(at), cellOf(at), at.client)}
        onBox={(box, at) => {
          const half = { x: cell.x / 2, y: cell.y / 2 };
          const low = cellOf({ x: box.left + half.x, y: box.bottom - half.y });
          const high = cellOf({ x: box.right - half.x, y: box.top + half.y });
          choose(low, high, at);
        }}
        label={`${name} by time and value`}
        spoken={text ? `${text.head}, ${text.note}: ${text.now}` : ""}
      >
        {over && (
          <div
            className={styles.cell}
            style={{
              left: over.bucket * cell.x,
              top: (heat.rows - 1 - over.row) * cell.y,
              width: cell.x,
              height: cell.y,
            }}
          />
        )}
      </BoxGround>
      {text && place && (
        <Tip
          at={place.client}
          head={text.head}
          lines={[{ key: "cell", colour: "transparent", name: text.note, values: text.values }]}
        />
      )}
    </>
  );
}

function cellText(
  heat: Heat,
  at: { bucket: number; row: number },
  of: Pick<HeatChartProps, "name" | "unit" | "zone">,
) {
  const { name, unit, zone } = of;
  const start = heat.starts[at.bucket] ?? 0;
  const place = at.bucket * heat.rows + at.row;
  const now = heat.now[place] ?? 0;
  const before = heat.before?.[place];
  const end = heat.starts[at.bucket + 1] ?? start + heat.length;
  const head = `${timeText(start, zone).slice(0, 16)} – ${timeText(end, zone).slice(11, 16)}`;
  const [low, high] = [rowValue(heat, at.row), rowValue(heat, at.row + 1)];
  const changed = before === undefined ? [] : [change(now, before) ?? (now > 0 ? "new" : "–")];
  return {
    head,
    note: `${name} ${inUnit(low, unit)} – ${inUnit(high, unit)}`,
    now: `${exact(now)} events`,
    values: [`${exact(now)} events`, ...changed],
  };
}

function axesOf(
  heat: Heat,
  look: { theme: ChartTheme; zone: Zone; width: number; height: number; unit: Unit | null },
): { option: ChartOption; plot: Plot } {
  const { theme, zone, width, height, unit } = look;
  const { cut, lowest, rows } = heat;
  const low = lowest * cut.step;
  const high = (lowest + rows) * cut.step;
  const step = cut.log ? 1 : cut.step * Math.max(1, Math.round(rows / 5));
  const scale = { min: low, max: high, step };
  const axis = valueAxis(scale, theme, cut.log ? (at) => inUnit(10 ** at, unit) : unitText(unit));
  const plot = {
    left: axis.room,
    top: TOP,
    width: Math.max(1, width - axis.room - RIGHT),
    height: height - TOP - BOTTOM,
  };
  const from = heat.starts[0] ?? 0;
  const to = from + heat.starts.length * heat.length;
  const ticks = timeTicks(from, to, zone, plot.width / 84);
  const option = {
    grid: { ...plot, outerBoundsMode: "none" },
    xAxis: labelledAxis(from, to, fittingTicks(ticks, [from, to], plot, RIGHT, theme.font), theme),
    yAxis: { ...axis.option, splitLine: { show: false } },
    series: [{ type: "line", data: [] }],
  };
  return { option, plot };
}

/** The cells, painted on a canvas: there may be ten thousand. */
function Cells({ heat, plot, theme }: { heat: Heat; plot: Plot; theme: ChartTheme }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(plot.width * ratio);
    canvas.height = Math.round(plot.height * ratio);
    const [x, y] = [canvas.width / heat.starts.length, canvas.height / heat.rows];
    const edge = (at: number, size: number) => Math.round(at * size);
    strengths(heat).forEach((strength, place) => {
      if (strength === 0) return;
      const bucket = Math.floor(place / heat.rows);
      const row = heat.rows - 1 - (place % heat.rows);
      context.fillStyle = cellColour(strength, heat.before !== null, theme.dark);
      const [left, top] = [edge(bucket, x), edge(row, y)];
      context.fillRect(left, top, edge(bucket + 1, x) - left, edge(row + 1, y) - top);
    });
  }, [heat, plot, theme]);
  return <canvas ref={ref} className={styles.cells} style={{ ...plot }} />;
}
