import { Paper, Text } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { percent } from "../../base/format";
import type { Point } from "../../charts/echart-tip";
import type { StageNode } from "../../charts/sankey/layout";
import { SankeyChart } from "../../charts/sankey/SankeyChart";
import { useChartHeight, useExplore } from "../../explore/context";
import { exclude, excludeGroups, only, onlyGroups, type PickedValue } from "../../query/edit";
import { measureLabel } from "../../query/measure";
import type { Query } from "../../query/query";
import { GroupsFrame } from "../shared/GroupsFrame";
import type { Groups } from "../shared/groups";
import { useGroupMarks } from "../shared/useGroupMarks";

const HEIGHT = 520;

/** How the events of the values of one column are spread over those of the next. */
export default function SankeyView({ spec }: { spec: QuerySpec }) {
  const { query } = useExplore();
  return (
    <GroupsFrame
      spec={spec}
      title={`${measureLabel(query.measures[0] ?? "")} by ${query.group.join(" → ")}`}
      height={HEIGHT}
    >
      {(groups) => <Stages groups={groups} />}
    </GroupsFrame>
  );
}

function Stages({ groups }: { groups: Groups }) {
  const { query, openMenu } = useExplore();
  const height = useChartHeight(HEIGHT);
  const { marks, measured, textsOf, picksOfRow } = useGroupMarks(groups, query.group, 0);
  const flows = groups.rows.map((row, at) => ({
    texts: textsOf(row),
    value: marks[at]?.value ?? 0,
    before: marks[at]?.before ?? null,
    samples: row.samples,
  }));
  const shown = flows.reduce((sum, { value }) => sum + value, 0);
  const pickOf = (stage: number, text: string): PickedValue[] => {
    const row = groups.rows[flows.findIndex(({ texts }) => texts[stage] === text)];
    const pick = row && picksOfRow(row)[stage];
    return pick ? [pick] : [];
  };
  /** The values of a stage that a node of smaller values is beside. */
  const beside = (node: StageNode, nodes: readonly StageNode[]) =>
    nodes
      .filter(({ stage, isOther }) => stage === node.stage && !isOther)
      .map(({ stage, label }) => pickOf(stage, label));
  const narrowTo = (ends: readonly StageNode[], nodes: readonly StageNode[]) => (from: Query) =>
    ends.reduce(
      (it, node) =>
        node.isOther
          ? excludeGroups(it, beside(node, nodes))
          : only(it, pickOf(node.stage, node.label)),
      from,
    );
  const open = (ends: readonly StageNode[], nodes: readonly StageNode[], point: Point) => {
    const label = ends.map((it) => it.label).join(" → ");
    if (ends.every(({ isOther }) => !isOther)) {
      const picks = ends.flatMap((it) => pickOf(it.stage, it.label));
      return openMenu({ label, picks, point });
    }
    const narrow = narrowTo(ends, nodes);
    const [end] = ends;
    const without = (of: Query) =>
      end?.isOther
        ? onlyGroups(of, beside(end, nodes))
        : exclude(of, pickOf(end?.stage ?? 0, end?.label ?? ""));
    openMenu({ label, picks: [], point, narrow, ...(ends.length === 1 ? { without } : {}) });
  };
  return (
    <Paper withBorder p="sm">
      <SankeyChart
        flows={flows}
        stages={groups.keyNames}
        measured={measured}
        height={height}
        onNode={(node, nodes, point) => open([node], nodes, point)}
        onLink={({ from, to }, nodes, point) => open([from, to], nodes, point)}
      />
      {groups.cut && measured.whole !== null && measured.whole > 0 && (
        <Text size="xs" c="dimmed" mt="xs" role="note">
          The largest {groups.rows.length} groups are drawn: {percent(shown / measured.whole)} of
          all.
        </Text>
      )}
    </Paper>
  );
}
