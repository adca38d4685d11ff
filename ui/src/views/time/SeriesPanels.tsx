import { SimpleGrid, Text } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { inUnit } from "../../base/units";
import type { Series, TimeSeries } from "../../charts/time-series/data";

/** Draws a part of a chart. */
export type DrawChart = (part: {
  hidden: ReadonlySet<string>;
  height: number;
  scaleBy?: readonly Series[];
}) => ReactNode;

const HEIGHT = 130;

/** A small chart for each series, all on the same axes. */
export function SeriesPanels(props: {
  chart: TimeSeries;
  /** The keys of series that have no chart. */
  hidden: ReadonlySet<string>;
  draw: DrawChart;
}) {
  const { chart, hidden, draw } = props;
  const panels = useMemo(() => {
    const shown = chart.series.filter(({ key }) => !hidden.has(key));
    return shown.map((series) => {
      const others = chart.series.filter(({ key }) => key !== series.key);
      const part = { hidden: new Set(others.map(({ key }) => key)), height: HEIGHT };
      return { series, part: { ...part, scaleBy: shown } };
    });
  }, [chart, hidden]);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3, xl: 4 }} spacing="sm" data-testid="panels">
      {panels.map(({ series, part }) => {
        const value = chart.additive ? series.total : series.last;
        return (
          <div key={series.key}>
            <Text size="xs" fw={600} truncate title={series.label}>
              {series.label}{" "}
              <Text span inherit fw={400} c="dimmed">
                {value === null ? "" : inUnit(value, chart.unit)}
              </Text>
            </Text>
            {draw(part)}
          </div>
        );
      })}
    </SimpleGrid>
  );
}
