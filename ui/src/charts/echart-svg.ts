// ECharts as an SVG text, for pictures that are saved; loaded when the first one is.

import { type EChartsCoreOption, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import "./echart-painter";

use([SVGRenderer]);

/** A chart as an `svg` element in text. */
export function chartSvg(option: EChartsCoreOption, width: number, height: number): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption({ animation: false, ...option });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}
