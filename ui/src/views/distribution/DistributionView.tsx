import { Group, SegmentedControl, Select, Skeleton, Text } from "@mantine/core";
import { useEffect, useMemo } from "react";
import { numberOf } from "../../api/client";
import type { QuerySpec } from "../../api/types";
import { useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { optionOf, withOption } from "../../query/viewManifest";
import { edgesOf, isLongTailed } from "./edges";
import { ALL, AXIS, COLUMN, columnOf, EXTENT } from "./options";
import { SpreadPanel } from "./SpreadPanel";
import { betweenSpec, histogramSpec } from "./spec";
import { boundsOf, statisticsOf } from "./summary";

/** How the values of a number column spread, between the 1st and the 99th percentile or in full. */
export function DistributionView({ spec }: { spec: QuerySpec }) {
  const { resolved, columns, statsLoaded, loadStats, query } = useExplore();
  const names = columns.filter(({ type }) => type === "number").map(({ name }) => name);
  const chooses = names.length > 1 && optionOf(query, COLUMN) === "" && !statsLoaded;
  useEffect(() => {
    if (chooses) loadStats();
  }, [chooses, loadStats]);
  const column = columnOf(resolved);
  if (chooses || !column) return <Skeleton h={320} aria-label="Choosing a column" />;
  return <Distribution key={column} spec={spec} column={column} names={names} />;
}

function Distribution(props: { spec: QuerySpec; column: string; names: string[] }) {
  const { spec: summed, column, names } = props;
  const { resolved, query } = useExplore();
  const summary = useAnswer(summed);
  const full = optionOf(query, EXTENT) === ALL;
  const axis = optionOf(query, AXIS);
  const bounds = useMemo(
    () => (summary.data ? boundsOf(summary.data, full) : null),
    [summary.data, full],
  );
  const log = axis === "log" || (axis === "" && bounds !== null && isLongTailed(bounds.values));
  const bins = useMemo(() => (bounds ? edgesOf(bounds.values, log) : null), [bounds, log]);
  const asks = bounds !== null && !summary.isPlaceholderData;
  const spec = !asks
    ? null
    : bins
      ? betweenSpec(resolved, column, bins.edges)
      : histogramSpec(resolved, column, bounds.least, bounds.most);
  const spread = useAnswer(spec);
  const staleSince = summary.staleSince ?? spread.staleSince;
  const isFetching = summary.isFetching || spread.isFetching;
  const nothing = summary.data && !summary.isPlaceholderData && bounds === null;
  const now = summary.data && statisticsOf(summary.data).now;
  const rowCounts = {
    samples: numberOf(now?.("samples")) ?? 0,
    events: numberOf(now?.("events")),
  };
  return (
    <ViewFrame
      title="Distribution of"
      spec={spec ?? summed}
      rowCounts={rowCounts}
      result={nothing || summary.error ? summary : { ...spread, staleSince, isFetching }}
      height={320}
      tools={
        <Tools column={column} names={names} log={log} mayLog={(bounds?.values.low ?? 0) > 0} />
      }
    >
      {(answer) =>
        nothing || !summary.data ? (
          <Text c="dimmed" py={48} ta="center">
            No row here has a value in {column}.
          </Text>
        ) : (
          <SpreadPanel
            answer={answer}
            summary={summary.data}
            column={column}
            bins={bins}
            bounds={bounds}
          />
        )
      }
    </ViewFrame>
  );
}

/** The column, how much of its values is drawn, and on which axis. */
function Tools(props: { column: string; names: string[]; log: boolean; mayLog: boolean }) {
  const { column, names, log, mayLog } = props;
  const { query, commit } = useExplore();
  return (
    <Group gap="xs">
      <Select
        size="xs"
        w={200}
        searchable
        aria-label="Column"
        data={names}
        value={column}
        allowDeselect={false}
        onChange={(name) => name && commit(withOption(query, COLUMN, name))}
      />
      <SegmentedControl
        size="xs"
        aria-label="Values"
        value={optionOf(query, EXTENT) === ALL ? ALL : "middle"}
        onChange={(extent) => commit(withOption(query, EXTENT, extent === ALL ? ALL : ""))}
        data={[
          { value: "middle", label: "Middle 98 %" },
          { value: ALL, label: "All values" },
        ]}
      />
      <SegmentedControl
        size="xs"
        aria-label="Axis"
        value={log && mayLog ? "log" : "linear"}
        onChange={(axis) => commit(withOption(query, AXIS, axis))}
        data={[
          { value: "linear", label: "Linear" },
          { value: "log", label: "Log", disabled: !mayLog },
        ]}
      />
    </Group>
  );
}
