import { Group, Paper, SegmentedControl, Select, Skeleton, Text } from "@mantine/core";
import { useEffect, useMemo } from "react";
import type { Answer, QuerySpec } from "../../api/types";
import { durationMs, durationWords } from "../../base/duration";
import { inUnit, unitOfColumn } from "../../base/units";
import { timeText } from "../../base/zone";
import type { Point } from "../../charts/echart-tip";
import { type Cut, heatOf } from "../../charts/heat/data";
import { type HeatBox, HeatChart } from "../../charts/heat/HeatChart";
import { useAnswer } from "../../explore/answers";
import { useChartHeight, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { bucketsOf } from "../../query/buckets";
import { excludeRange, withFilter } from "../../query/edit";
import type { Filter } from "../../query/filter";
import { seriesRange } from "../../query/spec";
import { optionOf, withOption } from "../../query/viewManifest";
import { COLUMN, columnOf } from "../distribution/options";
import { SCALE } from "./options";
import { cellsSpec, cutOf, endsOf } from "./spec";

const HEIGHT = 400;

/** How the values of a number column are spread at each time. */
export default function HeatView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, columns, statsLoaded, loadStats, commit } = useExplore();
  const chooses = optionOf(query, COLUMN) === "" && !statsLoaded;
  useEffect(() => {
    if (chooses) loadStats();
  }, [chooses, loadStats]);
  const column = columnOf(resolved);
  const asked = useAnswer(chooses ? null : spec);
  const ends = asked.isPlaceholderData ? null : endsOf(asked.data);
  const cut = ends && cutOf(ends, optionOf(query, SCALE));
  const cells = useAnswer(column && ends && cut ? cellsSpec(resolved, column, ends, cut) : null);
  if (chooses || !column) return <Skeleton h={HEIGHT} aria-label="Choosing a column" />;
  const names = columns.filter(({ type }) => type === "number").map(({ name }) => name);
  const nothing = asked.data && !asked.isPlaceholderData && ends === null;
  const isFetching = asked.isFetching || cells.isFetching;
  const tools = (
    <Group gap="xs">
      <Select
        size="xs"
        w={180}
        searchable
        aria-label="Column"
        data={names}
        value={column}
        allowDeselect={false}
        onChange={(name) => name && commit(withOption(query, COLUMN, name))}
      />
      <SegmentedControl
        size="xs"
        aria-label="Scale"
        value={cut?.log ? "log" : "linear"}
        data={[
          { value: "linear", label: "Linear" },
          { value: "log", label: "Log", disabled: ends !== null && ends.most <= 0 },
        ]}
        onChange={(value) => commit(withOption(query, SCALE, value))}
      />
    </Group>
  );
  return (
    <ViewFrame
      title={`Heat map, per ${durationWords(seriesRange(resolved).bucket).replace(/^1 /, "")}, of`}
      spec={cut && ends ? cellsSpec(resolved, column, ends, cut) : spec}
      result={nothing || asked.error ? asked : { ...cells, isFetching }}
      height={HEIGHT}
      tools={tools}
    >
      {(answer) =>
        nothing ? <NoValues column={column} /> : cut && <Cells {...{ answer, cut, column }} />
      }
    </ViewFrame>
  );
}

function NoValues({ column }: { column: string }) {
  return (
    <Text c="dimmed" py={48} ta="center">
      No row here has a value in {column} that can be drawn.
    </Text>
  );
}

function Cells({ answer, cut, column }: { answer: Answer; cut: Cut; column: string }) {
  const { resolved, zone, openMenu } = useExplore();
  const height = useChartHeight(HEIGHT);
  const unit = unitOfColumn(resolved.columns, column);
  const { range, start, bucket } = seriesRange(resolved);
  const heat = useMemo(() => {
    const length = durationMs(bucket) || 1000;
    const buckets = bucketsOf({ from: start, to: range.to }, bucket, resolved.zone);
    return heatOf(answer, cut, buckets, length);
  }, [answer, cut, range.to, start, bucket, resolved.zone]);
  if (!heat) return <NoValues column={column} />;
  const pick = (box: HeatBox, point: Point) => {
    const bound = (value: number) => String(Number(value.toPrecision(12)));
    const from: Filter = { column, operator: ">=", values: [bound(box.from)] };
    const to: Filter = { column, operator: "<", values: [bound(box.to)] };
    const time = `${timeText(box.range.from, zone).slice(0, 16)} – ${timeText(box.range.to, zone).slice(11, 16)}`;
    openMenu({
      label: `${column} ${inUnit(box.from, unit)} – ${inUnit(box.to, unit)}, ${time}`,
      picks: [],
      range: { from: Math.max(box.range.from, range.from), to: Math.min(box.range.to, range.to) },
      point,
      narrow: (it) => withFilter(withFilter(it, from), to),
      without: (it) => excludeRange(it, from, to),
    });
  };
  return (
    <Paper withBorder p="xs">
      <HeatChart heat={heat} name={column} unit={unit} zone={zone} height={height} onPick={pick} />
      <Text size="xs" c="dimmed" mt={4}>
        {heat.before
          ? "Blue cells have more events than at the compared time, orange ones fewer."
          : "Stronger cells have more events."}{" "}
        Drag a box to select.
      </Text>
    </Paper>
  );
}
