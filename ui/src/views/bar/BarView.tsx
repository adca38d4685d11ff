import { Paper, Stack, Text } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { BarsChart } from "../../charts/bars/BarsChart";
import { useExplore } from "../../explore/context";
import { measureLabel } from "../../query/measure";
import { GroupsFrame } from "../shared/GroupsFrame";
import type { Groups } from "../shared/groups";
import { useGroupMarks } from "../shared/useGroupMarks";

/** The pixels of the title of a chart. */
const TITLE = 24;

/** A bar for each group; one chart for each measure. */
export default function BarView({ spec }: { spec: QuerySpec }) {
  const { query } = useExplore();
  return (
    <GroupsFrame spec={spec} title="Groups" height={320}>
      {(groups) => (
        <Stack gap="md">
          {query.measures.map((measure, at) => (
            <Bars key={measure} groups={groups} at={at} />
          ))}
        </Stack>
      )}
    </GroupsFrame>
  );
}

function Bars({ groups, at }: { groups: Groups; at: number }) {
  const { query, chartHeight } = useExplore();
  const { marks, measured, press } = useGroupMarks(groups, query.group, at);
  const height = chartHeight && chartHeight / query.measures.length - TITLE;
  return (
    <Paper withBorder p="sm">
      <Text size="xs" fw={600} mb={6}>
        {measureLabel(query.measures[at] ?? "")}
      </Text>
      <BarsChart {...{ marks, measured, height }} onPick={press} />
    </Paper>
  );
}
