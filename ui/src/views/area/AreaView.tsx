import { Paper, SegmentedControl, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Answer, QuerySpec } from "../../api/types";
import { spanText } from "../../base/zone";
import { AreaChart } from "../../charts/area/AreaChart";
import { seriesOf } from "../../charts/time-series/data";
import { useAnswer } from "../../explore/answers";
import { markOf, useChartHeight, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { isAdditive, measureLabel } from "../../query/measure";
import { optionOf, withOption } from "../../query/viewManifest";
import { SeriesTable } from "../time/SeriesTable";
import { SHARE, STACK } from "./options";

/** Series on top of each other: what each adds to the whole, or its share of the whole. */
export default function AreaView({ spec }: { spec: QuerySpec }) {
  const { query, commit } = useExplore();
  const result = useAnswer(spec);
  const share = optionOf(query, STACK) === SHARE;
  const choose = (
    <SegmentedControl
      size="xs"
      aria-label="Stacked as"
      value={share ? SHARE : ""}
      data={[
        { value: "", label: "Amounts" },
        { value: SHARE, label: "Shares" },
      ]}
      onChange={(value) => commit(withOption(query, STACK, value))}
    />
  );
  const height = useChartHeight(query.measures.length > 1 ? 240 : 340);
  return (
    <ViewFrame title="Stacked over time" spec={spec} result={result} height={height} tools={choose}>
      {(answer) => (
        <Stack gap="md">
          {query.measures.map((measure, at) =>
            isAdditive(measure) ? (
              <Area key={measure} answer={answer} at={at} share={share} height={height} />
            ) : (
              <Text key={measure} size="xs" c="dimmed" role="note">
                {measureLabel(measure)} does not add up, so it is not stacked.
              </Text>
            ),
          )}
        </Stack>
      )}
    </ViewFrame>
  );
}

const NO_SERIES = { picks: [], others: [] };

function Area(props: { answer: Answer; at: number; share: boolean; height: number }) {
  const { answer, at, share, height } = props;
  const { resolved, query, zone, openMenu } = useExplore();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [highlighted, setHighlighted] = useState<string | null>(null);
  const chart = useMemo(() => seriesOf(answer, resolved, at), [answer, resolved, at]);
  return (
    <Paper withBorder p="xs">
      {query.measures.length > 1 && (
        <Text size="xs" fw={600} mb={4}>
          {chart.label}
        </Text>
      )}
      <AreaChart
        chart={chart}
        zone={zone}
        height={height}
        share={share}
        hidden={hidden}
        highlighted={highlighted}
        onBrush={(range, point) =>
          openMenu({ picks: [], range, label: spanText(range, zone), point })
        }
        onPick={(series, range, label, point) =>
          openMenu({ ...markOf(series ?? NO_SERIES), range, label, point })
        }
      />
      <SeriesTable
        chart={chart}
        wholes={null}
        hidden={hidden}
        onHide={setHidden}
        onHighlight={setHighlighted}
      />
    </Paper>
  );
}
