import { Alert, Code, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { visible } from "../base/format";
import type { IgnoredPart } from "../query/viewManifest";

const LONGEST = 120;

/** Above the answer: the parts of the address without effect, and why. */
export function IgnoredNote({ ignored }: { ignored: readonly IgnoredPart[] }) {
  if (ignored.length === 0) return null;
  return (
    <Alert
      color="gray"
      icon={<IconAlertTriangle />}
      py="xs"
      mb="md"
      role="alert"
      data-testid="ignored"
      title="A part of the address is ignored"
    >
      {ignored.map(({ part, why }) => (
        <Text key={part} size="sm" className="wrap">
          <Code>{visible(part.length > LONGEST ? `${part.slice(0, LONGEST)}…` : part)}</Code> {why}
        </Text>
      ))}
    </Alert>
  );
}
