import { Button, Code, Paper, Stack, Tabs, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useState } from "react";
import { authorization } from "../../api/client";
import { copyText } from "../../widgets/clipboard";
import { type SendLine, sendTabs } from "./sendLines";

/** Lines that send events to this server, for a few languages. */
export function SendEvents() {
  const hasToken = Object.keys(authorization()).length > 0;
  const tabs = sendTabs(window.location.origin, hasToken);
  return (
    <Tabs defaultValue={tabs[0]?.name ?? ""} keepMounted={false}>
      <Tabs.List mb="sm">
        {tabs.map(({ name }) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ name, lines, note }) => (
        <Tabs.Panel key={name} value={name}>
          <Stack gap="sm">
            {lines.map((line) => (
              <Line key={line.words} {...line} />
            ))}
            {note && (
              <Text size="sm" c="dimmed">
                {note}
              </Text>
            )}
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function Line({ words, line }: SendLine) {
  const [copied, setCopied] = useState(false);
  return (
    <Paper withBorder p="sm">
      <div className="send-head">
        <Text size="sm" fw={600}>
          {words}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          aria-label={`Copy: ${words}`}
          onClick={() => void copyText(line).then(setCopied)}
        >
          {copied ? "Copied" : "Copy"}
        </Button>
      </div>
      <Code block className="wrap" data-testid="line">
        {line}
      </Code>
    </Paper>
  );
}
