import { Paper, Text } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { PieChart } from "../../charts/pie/PieChart";
import { useExplore } from "../../explore/context";
import { measureLabel } from "../../query/measure";
import { GroupsFrame } from "../shared/GroupsFrame";
import type { Groups } from "../shared/groups";
import { useGroupMarks } from "../shared/useGroupMarks";

/** The shares that groups have of the first measure. */
export default function PieView({ spec }: { spec: QuerySpec }) {
  const { query } = useExplore();
  return (
    <GroupsFrame
      spec={spec}
      title={`Shares of ${measureLabel(query.measures[0] ?? "")}`}
      height={320}
    >
      {(groups) => <Pie groups={groups} />}
    </GroupsFrame>
  );
}

function Pie({ groups }: { groups: Groups }) {
  const { query, chartHeight } = useExplore();
  const { marks, measured, press } = useGroupMarks(groups, query.group, 0);
  const negative = marks.some(({ value }) => (value ?? 0) < 0);
  return (
    <Paper withBorder p="md">
      <PieChart {...{ marks, measured }} height={chartHeight} onPick={press} />
      {negative && (
        <Text size="xs" c="orange.8" mt="xs" role="note">
          Groups with negative values have no share and are left out.
        </Text>
      )}
    </Paper>
  );
}
