import { Paper, SimpleGrid, Text } from "@mantine/core";
import { numberOf } from "../../api/client";
import { change } from "../../base/format";
import { useExplore } from "../../explore/context";
import { measureLabel, measureUnit } from "../../query/measure";
import type { Totals } from "./groups";
import { exactText, numberText, stepOf } from "./MeasureCells";

/** Measures without groups: a large number for each, and what it was before. */
export function BigNumbers({ totals }: { totals: Totals | null }) {
  const { query, columns } = useExplore();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} data-testid="totals">
      {query.measures.map((measure, at) => {
        const now = totals?.now[at] ?? null;
        const unit = measureUnit(measure, columns);
        const before = totals?.before?.[at] ?? null;
        return (
          <Paper key={measure} withBorder p="md">
            <Text size="xs" c="dimmed">
              {measureLabel(measure)}
            </Text>
            <Text fz={28} fw={600} className="numbers" title={exactText(now, unit)}>
              {numberText(now, unit)}
            </Text>
            {before !== null && (
              <Text size="xs" c="dimmed" className="numbers">
                {numberText(before, unit)} before,{" "}
                {change(numberOf(now), numberOf(before), stepOf(measure)) ??
                  "no significant change"}
              </Text>
            )}
          </Paper>
        );
      })}
    </SimpleGrid>
  );
}
