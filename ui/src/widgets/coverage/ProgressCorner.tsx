import { Box, Group, Progress, Text } from "@mantine/core";
import type { QueryProgress } from "../../api/types";
import { micros } from "../../base/format";
import { progressWords, scannedPercent } from "./coverage";

/** How far a query has come, in the place of its coverage; `partial`: whether what is drawn is its
 * answer from the rows scanned by now. */
export function ProgressCorner(props: { progress: QueryProgress; partial: boolean }) {
  const { progress, partial } = props;
  return (
    <Box data-testid="progress" role="status">
      <Group gap={6} wrap="wrap" justify="flex-end">
        <Text size="xs" span c="dimmed" className="numbers">
          {partial ? "Partial answer" : "Scanning"}: {progressWords(progress)} ·{" "}
          {micros(progress.elapsed_micros)}
        </Text>
      </Group>
      <Progress
        size={3}
        value={scannedPercent(progress)}
        aria-label="Rows scanned"
        transitionDuration={200}
      />
    </Box>
  );
}
