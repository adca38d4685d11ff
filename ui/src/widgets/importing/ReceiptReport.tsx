import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Receipt } from "../../api/importing";
import { counted } from "../../base/format";
import { timeWords } from "./timeSource";

/** What became of the rows of a file: accepted, rejected with reasons, warnings. */
export function ReceiptReport(props: { receipt: Receipt; table: string; onOpen: () => void }) {
  const { receipt, table, onOpen } = props;
  const { accepted, rejected_count, rejected, reject_kinds, warnings, time_from } = receipt;
  const reasons =
    reject_kinds?.map(
      ({ count, line, reason }) =>
        `${count > 1 ? `${counted(count, "row")} such as ` : ""}row ${line}: ${reason}`,
    ) ?? rejected.slice(0, 10).map(({ line, reason }) => `row ${line}: ${reason}`);
  return (
    <Stack gap="sm" data-testid="receipt">
      <Text>
        {counted(accepted, "row")} went to table <b>{table}</b>
        {timeWords(time_from)}
      </Text>
      {rejected_count > 0 && (
        <Alert color="red" variant="outline" title={`${counted(rejected_count, "row")} rejected`}>
          <Reasons reasons={reasons} />
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="orange" variant="outline" icon={<IconAlertTriangle />} title="Warnings">
          <Reasons reasons={warnings.map(({ message }) => message)} />
        </Alert>
      )}
      <Group justify="end">
        <Button onClick={onOpen}>Open the table</Button>
      </Group>
    </Stack>
  );
}

function Reasons({ reasons }: { reasons: string[] }) {
  return (
    <List size="sm">
      {reasons.map((reason) => (
        <List.Item key={reason}>{reason}</List.Item>
      ))}
    </List>
  );
}
