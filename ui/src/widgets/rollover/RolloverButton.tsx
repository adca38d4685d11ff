import { Button, Group, Popover, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";

/** A button that asks once more before it does something. */
export function RolloverButton(props: {
  label: string;
  /** What will happen. */
  children: ReactNode;
  /** The word that makes it happen. */
  confirm: string;
  colour?: string;
  busy: boolean;
  onConfirm: () => void;
}) {
  const { label, children, confirm, colour = "teal", busy, onConfirm } = props;
  const [opened, popover] = useDisclosure(false);
  return (
    <Popover
      opened={opened}
      onChange={(open) => (open ? popover.open() : popover.close())}
      width={320}
      shadow="md"
      withArrow
      returnFocus
      trapFocus
    >
      <Popover.Target>
        <Button size="compact-sm" variant="default" loading={busy} onClick={popover.toggle}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Text size="sm">{children}</Text>
          <Group gap="xs" justify="flex-end">
            <Button size="compact-sm" variant="subtle" color="gray" onClick={popover.close}>
              Cancel
            </Button>
            <Button
              size="compact-sm"
              color={colour}
              onClick={() => {
                popover.close();
                onConfirm();
              }}
            >
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
