import { Button, Group, Paper, Text } from "@mantine/core";
import { memo } from "react";
import { bytes } from "../base/format";
import { useBeforeUnload } from "./beforeUnload";
import { type Incoming, useIncoming } from "./incoming";

/** The files that are on their way, at the lower right of the page, whatever it shows. */
export const IncomingBar = memo(function IncomingBar() {
  const files = useIncoming();
  useBeforeUnload(files.some(({ failure }) => failure === null));
  if (files.length === 0) return null;
  return (
    <Paper withBorder shadow="md" p="sm" className="incoming">
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name
        <Line key={at} file={file} />
      ))}
    </Paper>
  );
});

function Line({ file }: { file: Incoming }) {
  const { name, failure, remove } = file;
  const come = file.bytes === 0 ? "Waiting for" : bytes(file.bytes);
  return (
    <Group gap="sm" wrap="nowrap" justify="space-between">
      <div role={failure === null ? "status" : "alert"} className="shrinks">
        <Text size="sm" className="clipped" title={name}>
          {failure === null ? `${come} ${name}` : `Not saved: ${name}`}
        </Text>
        {failure !== null && (
          <Text size="xs" c="var(--warn)" className="wrap">
            {failure}
          </Text>
        )}
      </div>
      <Button size="compact-xs" variant="default" onClick={remove}>
        {failure === null ? "Cancel" : "Close"}
      </Button>
    </Group>
  );
}
