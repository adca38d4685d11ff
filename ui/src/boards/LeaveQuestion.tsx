import { Button, Group, Modal, Stack, Text } from "@mantine/core";

/** Asks before changes of a dashboard are lost. */
export function LeaveQuestion(props: {
  isAsked: boolean;
  onLeave: () => void;
  onStay: () => void;
}) {
  const { isAsked, onLeave, onStay } = props;
  return (
    <Modal opened={isAsked} onClose={onStay} size="sm" title="Leave without saving?">
      <Stack gap="md">
        <Text size="sm">The changes of this dashboard are not saved. They are lost elsewhere.</Text>
        <Group justify="flex-end" gap="xs">
          <Button size="xs" color="red" variant="light" onClick={onLeave}>
            Leave
          </Button>
          <Button size="xs" data-autofocus onClick={onStay}>
            Stay
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
