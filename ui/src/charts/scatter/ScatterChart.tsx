import { useEffect, useMemo, useRef, useState } from "react";
import { exactly } from "../../base/format";
import { inUnit, type Unit } from "../../base/units";
import { type Box, BoxGround, type BoxPoint } from "../box-ground";
import { type ChartTheme, EChart, useChartTheme, useChartWidth } from "../echart";
import styles from "../echart.module.css";
import {
  fittingTicks,
  labelledAxis,
  type Plot,
  ticksOf,
  tickText,
  unitText,
  valueAxis,
} from "../echart-axes";
import { Tip, type Point as WindowPoint } from "../echart-tip";
import { type Axis, axisOf, partOf, valueAt } from "./axis";

/** A stored row with both numbers. */
export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly label: string;
  /** Of the compared time: drawn as a ring. */
  readonly before: boolean;
}

export interface DotBox {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

export interface Units {
  readonly x: Unit | null;
  readonly y: Unit | null;
}

interface ScatterProps {
  readonly dots: readonly Dot[];
  readonly names: { readonly x: string; readonly y: string };
  readonly units: Units;
  readonly height: number;
  readonly onBox: (box: DotBox, point: WindowPoint) => void;
  readonly onDot: (dot: Dot, point: WindowPoint) => void;
}

/** Rows by two of their numbers. A drag selects a box. */
export function ScatterChart(props: ScatterProps) {
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const theme = useChartTheme();
  return (
    <div ref={ref} className={styles.frame} style={{ height: props.height }}>
      {theme && width > 0 && <Sized {...props} theme={theme} width={width} />}
    </div>
  );
}

const [TOP, RIGHT, BOTTOM] = [10, 14, 26];
const NEAR = 14;

function Sized(props: ScatterProps & { theme: ChartTheme; width: number }) {
  const { dots, names, units, height, width, theme, onBox, onDot } = props;
  const [place, setPlace] = useState<BoxPoint | null>(null);
  const picture = useMemo(
    () => pictureOf(dots, { x: units.x, y: units.y }, theme, width, height),
    [dots, units.x, units.y, theme, width, height],
  );
  const { plot, x, y, option } = picture;
  const xOf = (dot: Dot) => partOf(x, dot.x) * plot.width;
  const yOf = (dot: Dot) => (1 - partOf(y, dot.y)) * plot.height;
  const nearest = (at: BoxPoint) => {
    let [best, least]: [Dot | null, number] = [null, NEAR];
    for (const dot of dots) {
      const away = Math.hypot(xOf(dot) - at.x, yOf(dot) - at.y);
      if (away < least) [best, least] = [dot, away];
    }
    return best;
  };
  const near = place && nearest(place);
  const choose = (box: Box, at: WindowPoint) =>
    onBox(
      {
        x: [valueAt(x, box.left / plot.width), valueAt(x, box.right / plot.width)],
        y: [valueAt(y, 1 - box.bottom / plot.height), valueAt(y, 1 - box.top / plot.height)],
      },
      at,
    );
  const words = near && `${names.x} ${exactly(near.x)}, ${names.y} ${exactly(near.y)}`;
  return (
    <>
      <EChart
        option={option}
        width={width}
        height={height}
        label={`${dots.length} rows by ${names.x} and ${names.y}`}
      />
      <Dots dots={dots} picture={picture} />
      <BoxGround
        plot={plot}
        step={{ x: plot.width / 40, y: plot.height / 30 }}
        place={place}
        onPlace={setPlace}
        snap={(box) => box}
        onClick={(at) => {
          const dot = nearest(at);
          if (dot) onDot(dot, at.client);
        }}
        onBox={choose}
        label={`Rows by ${names.x} and ${names.y}`}
        spoken={words ?? ""}
      >
        {near && (
          <div
            className={styles.dot}
            data-near
            style={{ left: xOf(near), top: yOf(near), background: near.colour }}
          />
        )}
      </BoxGround>
      {near && place && (
        <Tip
          at={place.client}
          head={near.label === "" ? "A stored row" : near.label}
          {...(near.before ? { note: "the compared time" } : {})}
          lines={[
            { key: "x", colour: near.colour, name: names.x, values: [exactly(near.x)] },
            { key: "y", colour: near.colour, name: names.y, values: [exactly(near.y)] },
          ]}
        />
      )}
    </>
  );
}

interface Picture {
  option: Record<string, unknown>;
  plot: Plot;
  x: Axis;
  y: Axis;
}

function pictureOf(
  dots: readonly Dot[],
  units: Units,
  theme: ChartTheme,
  width: number,
  height: number,
): Picture {
  const y = axisOf(
    dots.map((dot) => dot.y),
    5,
  );
  const x = axisOf(
    dots.map((dot) => dot.x),
    Math.max(3, width / 120),
  );
  const written = (axis: Axis, unit: Unit | null) =>
    axis.log ? (at: number) => inUnit(10 ** at, unit) : unitText(unit);
  const { option: yAxis, room } = valueAxis(y.scale, theme, written(y, units.y));
  const plot = {
    left: room,
    top: TOP,
    width: Math.max(1, width - room - RIGHT),
    height: height - TOP - BOTTOM,
  };
  const { min, max, step } = x.scale;
  const values = ticksOf(min, max, step);
  const text = written(x, units.x) ?? tickText(values);
  const ticks = values.map((at) => ({ at, text: text(at), bold: false }));
  const fitting = fittingTicks(ticks, [min, max], plot, RIGHT, theme.font);
  const option = {
    grid: { ...plot, outerBoundsMode: "none" },
    xAxis: labelledAxis(min, max, fitting, theme),
    yAxis: y.log ? { ...yAxis, splitLine: { show: false } } : yAxis,
    series: [{ type: "line", data: [] }],
  };
  return { option, plot, x, y };
}

/** The points, painted on a canvas: there are thousands. */
function Dots({ dots, picture }: { dots: readonly Dot[]; picture: Picture }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const { plot, x, y } = picture;
  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(plot.width * ratio);
    canvas.height = Math.round(plot.height * ratio);
    context.scale(ratio, ratio);
    context.globalAlpha = 0.6;
    for (const dot of dots) {
      context.beginPath();
      const [left, top] = [partOf(x, dot.x) * plot.width, (1 - partOf(y, dot.y)) * plot.height];
      context.arc(left, top, dot.before ? 2.5 : 3, 0, 2 * Math.PI);
      context.fillStyle = dot.colour;
      context.strokeStyle = dot.colour;
      if (dot.before) context.stroke();
      else context.fill();
    }
  }, [dots, plot, x, y]);
  return <canvas ref={ref} className={styles.cells} style={{ ...plot }} />;
}
