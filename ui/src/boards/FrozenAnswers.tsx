import { Anchor, Button, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Problem } from "../api/client";
import { deleteSnapshot, fetchSnapshots, type SnapshotSummary } from "../api/documents";
import { visible } from "../base/format";
import { timeText, type Zone } from "../base/zone";
import { ProblemCard } from "../widgets/ProblemCard";
import classes from "./boards.module.css";
import { snapshotWords, urlOfSnapshot } from "./snapshotWords";
import { SNAPSHOTS_KEY } from "./useDashboard";

/** The frozen answers, the newest first. */
export function FrozenAnswers({ zone, go }: { zone: Zone; go: (url: string) => void }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery<SnapshotSummary[], Problem>({
    queryKey: SNAPSHOTS_KEY,
    queryFn: ({ signal }) => fetchSnapshots(signal),
  });
  const remove = async ({ name, version }: SnapshotSummary) => {
    await deleteSnapshot(name, version).catch(() => undefined);
    await client.invalidateQueries({ queryKey: SNAPSHOTS_KEY });
  };
  return (
    <Stack gap="sm" component="section" aria-label="Frozen answers">
      <Title order={2} fz={18}>
        Frozen answers
      </Title>
      {error && <ProblemCard problem={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && (
        <Text c="dimmed">None yet. “Freeze this answer” is in Explore's menu for sharing.</Text>
      )}
      {data && data.length > 0 && (
        <Table className={classes.table} verticalSpacing="xs">
          <Table.Tbody>
            {data.map((snapshot) => (
              <Table.Tr key={snapshot.name}>
                <Table.Td>
                  <Anchor
                    href={urlOfSnapshot(snapshot.name)}
                    fw={600}
                    onClick={(event) => {
                      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                      event.preventDefault();
                      go(urlOfSnapshot(snapshot.name));
                    }}
                  >
                    {visible(snapshotWords(snapshot))}
                  </Anchor>
                </Table.Td>
                <Table.Td className="nowrap">{timeText(Date.parse(snapshot.taken), zone)}</Table.Td>
                <Table.Td ta="end">
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    aria-label={`Remove the frozen answer of ${timeText(Date.parse(snapshot.taken), zone)}`}
                    onClick={() => void remove(snapshot)}
                  >
                    Remove
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
