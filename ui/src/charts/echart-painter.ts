// The parts of ECharts that the page draws with, in a file that is loaded by itself.

import { CustomChart, LineChart } from "echarts/charts";
import { GridSimpleComponent } from "echarts/components";
import { use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([LineChart, CustomChart, GridSimpleComponent, CanvasRenderer]);

export { init } from "echarts/core";
