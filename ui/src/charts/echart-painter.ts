// The parts of ECharts that the page draws with, in a file that is loaded by itself.

import { CustomChart, LineChart } from "echarts/charts";
import { GridComponent, MarkLineComponent } from "echarts/components";
import { use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([LineChart, CustomChart, GridComponent, MarkLineComponent, CanvasRenderer]);

export { init } from "echarts/core";
