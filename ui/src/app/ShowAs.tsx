import {
  Button,
  Code,
  CopyButton,
  Group,
  Modal,
  SegmentedControl,
  Stack,
  Text,
} from "@mantine/core";
import { IconCheck, IconCode, IconCopy } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answer } from "../api/types";
import { type MainSpec, useMainSpec } from "../explore/mainSpec";
import type { Query } from "../query/query";
import { withOption, withView } from "../query/viewManifest";
import { SQL_TEXT } from "../views/sql/options";
import { laidOut } from "../views/sql/text";
import { curlText, jsonText, pythonText } from "./spellings";

const LANGUAGES = ["SQL", "JSON", "curl", "Python"] as const;
type Language = (typeof LANGUAGES)[number];

/** The main request of the view in other languages, to be copied; in SQL as its answer spells it. */
export default function ShowAs(props: {
  query: Query;
  commit: (next: Query) => void;
  onClose: () => void;
}) {
  const { query, commit, onClose } = props;
  const [language, setLanguage] = useState<Language>("SQL");
  const spec = useMainSpec();
  const { data } = useQuery<Answer>({ queryKey: ["answer", spec], enabled: false });
  const sql = spec && "sql" in spec ? spec.sql : data?.sql && laidOut(data.sql);
  const text = spec ? textIn(language, spec, sql) : null;
  const edit = () => {
    if (sql) commit(withView(withOption(query, SQL_TEXT, sql), "sql"));
    onClose();
  };
  return (
    <Modal opened onClose={onClose} title="This query in other languages" size="lg">
      <Stack gap="sm">
        <SegmentedControl
          size="xs"
          w="max-content"
          aria-label="Language"
          value={language}
          onChange={(value) => setLanguage(value as Language)}
          data={[...LANGUAGES]}
        />
        {text ? (
          <Code
            block
            className="wrap"
            data-testid="spelling"
            mah="50vh"
            style={{ overflow: "auto" }}
          >
            {text}
          </Code>
        ) : (
          <Text size="sm" c="dimmed">
            The SQL is known once there is an answer.
          </Text>
        )}
        <Group gap="xs">
          <CopyButton value={text ?? ""}>
            {({ copied, copy }) => (
              <Button
                size="xs"
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                onClick={copy}
                disabled={!text}
              >
                {copied ? "Copied" : "Copy"}
              </Button>
            )}
          </CopyButton>
          {language === "SQL" && sql && (
            <Button size="xs" variant="default" leftSection={<IconCode size={14} />} onClick={edit}>
              Edit in the SQL view
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

function textIn(language: Language, spec: MainSpec, sql: string | undefined): string | null {
  const { origin } = window.location;
  if (language === "SQL") return sql ?? null;
  if (language === "JSON") return jsonText(spec);
  return language === "curl" ? curlText(spec, origin) : pythonText(spec, origin);
}
