// ECharts only paints on a canvas. The page itself handles the pointer and the keys (echart-bins),
// and writes the texts of tooltips (echart-tip).

import { useComputedColorScheme } from "@mantine/core";
import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { type RefObject, useEffect, useRef, useState } from "react";
import { loadPart } from "../base/part";

let painter: Promise<typeof import("./echart-painter")> | null = null;

/** ECharts; loaded with the first call, once what stands around the charts is painted. */
export function loadPainter() {
  painter ??= nextPaint().then(() => loadPart(() => import("./echart-painter")));
  return painter;
}

/** Resolves after the next picture of the page. */
const nextPaint = () => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));

export type { EChartsCoreOption as ChartOption };

/** The page's colours, resolved: a canvas knows no CSS variables. */
export interface ChartTheme {
  readonly text: string;
  readonly dimmed: string;
  readonly grid: string;
  readonly surface: string;
  readonly font: string;
  readonly dark: boolean;
}

/** The colours of the scheme that is shown; null until it is known. */
export function useChartTheme(): ChartTheme | null {
  const scheme = useComputedColorScheme("light");
  const [theme, setTheme] = useState<ChartTheme | null>(null);
  // An effect, because Mantine marks the document with the scheme only after the first render.
  useEffect(() => {
    const dark = scheme === "dark";
    const styles = getComputedStyle(document.documentElement);
    const variable = (name: string, or: string) =>
      styles.getPropertyValue(`--mantine-${name}`).trim() || or;
    setTheme({
      text: variable("color-text", dark ? "#c9c9c9" : "#000"),
      dimmed: variable("color-dimmed", "#868e96"),
      grid: dark ? variable("color-dark-6", "#2e2e2e") : variable("color-gray-2", "#e9ecef"),
      surface: variable("color-body", dark ? "#242424" : "#fff"),
      font: variable("font-family", "sans-serif"),
      dark,
    });
  }, [scheme]);
  return theme;
}

/** The width that an element has now; 0 until it is known. */
export function useChartWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** A chart that is on the page, as it can be drawn again elsewhere. */
interface DrawnChart {
  readonly option: EChartsCoreOption;
  readonly width: number;
  readonly height: number;
}

const drawnCharts = new WeakMap<Element, DrawnChart>();

/** What ECharts draws in an element; nothing if it draws nothing there. */
export const drawnChart = (element: Element): DrawnChart | undefined => drawnCharts.get(element);

interface EChartProps {
  readonly option: EChartsCoreOption;
  readonly width: number;
  readonly height: number;
  /** What the picture says, in words. */
  readonly label: string;
}

/** A canvas with a chart. Series keep their views by their `id`s; those no longer given vanish. */
export function EChart({ option, width, height, label }: EChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<EChartsType | null>(null);
  const size = useRef({ width, height });

  useEffect(() => {
    let made: EChartsType | null = null;
    let gone = false;
    void loadPainter().then(({ init }) => {
      if (gone || !place.current) return;
      made = init(place.current, null, { renderer: "canvas", ...size.current });
      setChart(made);
    });
    return () => {
      gone = true;
      made?.dispose();
    };
  }, []);

  useEffect(() => {
    size.current = { width, height };
    chart?.resize({ width, height, silent: true });
  }, [chart, width, height]);

  useEffect(() => {
    chart?.setOption({ animation: false, ...option }, { notMerge: true });
  }, [chart, option]);

  useEffect(() => {
    if (place.current) drawnCharts.set(place.current, { option, width, height });
  }, [option, width, height]);

  return <div ref={place} role="img" aria-label={label} style={{ width, height }} />;
}
