import { Group, Paper, Select, Skeleton, Text } from "@mantine/core";
import { useEffect, useMemo } from "react";
import { numberOf } from "../../api/client";
import type { Answer, Cell, QuerySpec } from "../../api/types";
import { OTHER_COLOUR, strokesOf } from "../../base/colours";
import { counted } from "../../base/format";
import { inUnit, type Unit, unitOfColumn } from "../../base/units";
import type { Point } from "../../charts/echart-tip";
import { type Dot, type DotBox, ScatterChart } from "../../charts/scatter/ScatterChart";
import { useAnswer } from "../../explore/answers";
import { cellText } from "../../explore/CellText";
import { useChartHeight, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { excludeBox, pickOf, withFilter } from "../../query/edit";
import type { Filter } from "../../query/filter";
import { optionOf, withOption } from "../../query/viewManifest";
import { axesOf, X, Y } from "./options";
import { beforeSpec, ROWS_MOST } from "./spec";

const HEIGHT = 460;

/** Rows by two of their numbers, chosen at random; coloured by the first group. */
export default function ScatterView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, columns, statsLoaded, loadStats, commit } = useExplore();
  const chooses = !statsLoaded && (optionOf(query, X) === "" || optionOf(query, Y) === "");
  useEffect(() => {
    if (chooses) loadStats();
  }, [chooses, loadStats]);
  const axes = axesOf(resolved);
  const result = useAnswer(chooses ? null : spec);
  const before = useAnswer(chooses || !axes ? null : beforeSpec(resolved, axes));
  if (chooses || !axes) return <Skeleton h={HEIGHT} aria-label="Choosing columns" />;
  const names = columns.filter(({ type }) => type === "number").map(({ name }) => name);
  const choice = (label: string, value: string, option: typeof X) => (
    <Select
      size="xs"
      w={160}
      searchable
      aria-label={label}
      data={names}
      value={value}
      allowDeselect={false}
      onChange={(name) => name && commit(withOption(query, option, name))}
    />
  );
  return (
    <ViewFrame
      title="Rows by"
      spec={spec}
      result={{ ...result, isFetching: result.isFetching || before.isFetching }}
      height={HEIGHT}
      tools={
        <Group gap="xs">
          {choice("To the right", axes.x, X)}
          {choice("Upwards", axes.y, Y)}
        </Group>
      }
    >
      {(answer) => (
        <Rows answer={answer} before={query.compare === "" ? undefined : before.data} axes={axes} />
      )}
    </ViewFrame>
  );
}

function Rows(props: {
  answer: Answer;
  before: Answer | undefined;
  axes: { x: string; y: string };
}) {
  const { answer, before, axes } = props;
  const { query, columns, zone, openMenu } = useExplore();
  const height = useChartHeight(HEIGHT);
  const dots = useMemo(() => {
    const type = answer.columns[2]?.type ?? "string";
    const text = (cell: Cell | undefined) =>
      cell === undefined ? "" : cellText(cell, type, zone, true);
    const colours = strokesOf(largest(answer.rows.map((row) => text(row[2]))).sort());
    const read = (of: Answer, isBefore: boolean) =>
      of.rows.flatMap((row): Dot[] => {
        const [x, y] = [numberOf(row[0]), numberOf(row[1])];
        if (x === null || y === null || !Number.isFinite(x) || !Number.isFinite(y)) return [];
        const label = text(row[2]);
        const colour = colours.get(label)?.colour ?? OTHER_COLOUR;
        return [{ x, y, label, colour: isBefore ? OTHER_COLOUR : colour, before: isBefore }];
      });
    return [...(before ? read(before, true) : []), ...read(answer, false)];
  }, [answer, before, zone]);
  const units = { x: unitOfColumn(columns, axes.x), y: unitOfColumn(columns, axes.y) };
  const endsOf = (box: DotBox): Filter[] =>
    (["x", "y"] as const).flatMap((axis): Filter[] => {
      const [low, high] = box[axis];
      const column = axes[axis];
      return [
        { column, operator: ">=", values: [String(low)] },
        { column, operator: "<=", values: [String(high)] },
      ];
    });
  const pickBox = (box: DotBox, point: Point) => {
    const ends = ([low, high]: readonly [number, number], unit: Unit | null) =>
      `${inUnit(low, unit)} – ${inUnit(high, unit)}`;
    openMenu({
      label: `${axes.x} ${ends(box.x, units.x)}, ${axes.y} ${ends(box.y, units.y)}`,
      picks: [],
      point,
      narrow: (it) => endsOf(box).reduce(withFilter, it),
      without: (it) => excludeBox(it, endsOf(box)),
    });
  };
  const pickDot = ({ x, y }: Dot, point: Point) => {
    openMenu({
      label: `${axes.x} ${inUnit(x, units.x)}, ${axes.y} ${inUnit(y, units.y)}`,
      picks: [pickOf(columns, axes.x, x, "number"), pickOf(columns, axes.y, y, "number")],
      point,
    });
  };
  if (dots.length === 0) {
    return (
      <Text c="dimmed" py={48} ta="center">
        No row here has values in both columns.
      </Text>
    );
  }
  return (
    <Paper withBorder p="xs">
      <ScatterChart
        dots={dots}
        names={axes}
        units={units}
        height={height}
        onBox={pickBox}
        onDot={pickDot}
      />
      <Text size="xs" c="dimmed" mt={4} role="note">
        {counted(answer.rows.length, "stored row")}
        {answer.rows.length >= ROWS_MOST ? ", chosen at random" : ""}
        {before ? "; rings are of the compared time" : ""}
        {query.group.length > 0 ? `; colours by ${query.group[0]}` : ""}. Drag a box to select.
      </Text>
    </Paper>
  );
}

/** The most frequent texts, no more than there are colours. */
function largest(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 10)
    .map(([text]) => text);
}
