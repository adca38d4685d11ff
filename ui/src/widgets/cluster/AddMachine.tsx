import { Button, Code, CopyButton, Group, Paper, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import type { Cluster } from "../../api/cluster";
import { visible } from "../../base/format";

/** The command that adds a machine. */
function lineOf({ cluster, machines }: Cluster): string {
  const member = machines.find((machine) => machine.aggregator?.state === "alive");
  const address = member?.aggregator?.address ?? "FIRST-MACHINE:4282";
  return `hadal serve --cluster ${visible(cluster ?? "NAME")} --join ${visible(address)}`;
}

/** How to add a machine; without a cluster, how to begin one. */
export function AddMachine({ cluster }: { cluster: Cluster }) {
  const line = lineOf(cluster);
  const alone = cluster.cluster === null;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb={6} wrap="nowrap">
        <Text size="sm" fw={600}>
          {alone ? "Make it a cluster" : "Add a machine"}
        </Text>
        <CopyButton value={line}>
          {({ copied, copy }) => (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              onClick={copy}
            >
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Code block className="wrap" data-testid="join">
        {line}
      </Code>
      <Text size="xs" c="dimmed" mt={6}>
        {alone ? (
          <>
            Run the same line on every machine, the first one too. To see a cluster on this machine:{" "}
            <Code>hadal demo --machines 3</Code>
          </>
        ) : (
          "Run it on the new machine. It starts the machine's leaves, and new rows go to them at once."
        )}
      </Text>
    </Paper>
  );
}
