import {
  Alert,
  Button,
  Group,
  Loader,
  Modal,
  Progress,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Problem } from "../../api/client";
import {
  type Explanation,
  explain,
  HEAD_BYTES,
  type ReadOptions,
  type Receipt,
  tableOf,
  upload,
} from "../../api/importing";
import { bytes, percent } from "../../base/format";
import { ProblemCard } from "../ProblemCard";
import { PreviewRows } from "./PreviewRows";
import { ReadForm } from "./ReadForm";
import { ReceiptReport } from "./ReceiptReport";
import { timeWords } from "./timeSource";

/** How long a user may pause between two keys before the preview is made again. */
const PAUSE_MS = 300;

/** Shows how a file would be read, lets the user say otherwise, and sends it. */
export default function ImportDialog(props: {
  file: File;
  onClose: () => void;
  onOpen: (table: string) => void;
}) {
  const { file, onClose, onOpen } = props;
  const [table, setTable] = useState(() => tableOf(file.name));
  const [options, setOptions] = useState<ReadOptions>({});
  const sending = useUpload(table, file, options);
  const [asked] = useDebouncedValue(JSON.stringify([table, options]), PAUSE_MS);
  const preview = useQuery<Explanation, Problem>({
    queryKey: ["explain", file.name, file.size, file.lastModified, asked],
    queryFn: ({ signal }) => explain(table, file, options, signal),
    placeholderData: (before) => before,
    retry: false,
  });
  const title = `Import ${file.name} (${bytes(file.size)})`;
  return (
    <Modal opened onClose={onClose} title={title} size="xl" closeOnClickOutside={false}>
      <Stack gap="md">
        {sending.receipt ? (
          <ReceiptReport receipt={sending.receipt} table={table} onOpen={() => onOpen(table)} />
        ) : (
          <>
            <Group align="end">
              <TextInput
                label="Table"
                value={table}
                onChange={(event) => setTable(event.currentTarget.value)}
                disabled={sending.share !== null}
              />
              {preview.isFetching && <Loader size="xs" mb={10} />}
            </Group>
            {preview.error ? (
              <ProblemCard problem={preview.error} />
            ) : (
              preview.data && <Conclusions explanation={preview.data} />
            )}
            <ReadForm
              options={options}
              columns={columnsOf(preview.data)}
              onChange={setOptions}
              disabled={sending.share !== null}
            />
            {preview.data && !preview.error && <PreviewRows rows={preview.data.rows} />}
            {sending.problem && <ProblemCard problem={sending.problem} />}
            {sending.share !== null && (
              <Progress
                value={100 * sending.share}
                aria-label={`${percent(sending.share)} sent`}
                animated
              />
            )}
            <Group justify="end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button
                onClick={sending.start}
                loading={sending.share !== null}
                disabled={!!preview.error}
              >
                Import
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}

/** The names of the columns of the first rows. */
function columnsOf(explanation: Explanation | undefined): string[] {
  return [...new Set(explanation?.rows.flatMap((row) => Object.keys(row)) ?? [])];
}

/** What was concluded, and what of it is doubtful. */
function Conclusions({ explanation }: { explanation: Explanation }) {
  const { detected, evidence, warnings, rejected, time_from, isCut } = explanation;
  const doubts = [
    ...warnings.map(({ message }) => message),
    ...rejected
      .slice(0, 3)
      .map(({ line, reason }) => `record ${line} would be rejected: ${reason}`),
  ];
  return (
    <Stack gap={6}>
      <Text fz="sm" data-testid="detected">
        <b>{detected}</b>
        {timeWords(time_from)}
      </Text>
      {evidence.length > 0 && (
        <Text fz="xs" c="dimmed">
          {evidence.join(" · ")}
        </Text>
      )}
      {doubts.length > 0 && (
        <Alert color="orange" variant="outline" icon={<IconAlertTriangle />} p="xs">
          {doubts.map((doubt) => (
            <Text key={doubt} fz="sm">
              {doubt}
            </Text>
          ))}
          {isCut && (
            <Text fz="xs" c="dimmed">
              Numbers are of the first {bytes(HEAD_BYTES)}.
            </Text>
          )}
        </Alert>
      )}
    </Stack>
  );
}

/** The sending of a file: how far it is (null: not begun), and what came of it. */
function useUpload(table: string, file: File, options: ReadOptions) {
  const [share, setShare] = useState<number | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const abort = useRef<AbortController | null>(null);
  const client = useQueryClient();
  useEffect(() => () => abort.current?.abort(), []);
  const start = () => {
    abort.current = new AbortController();
    setProblem(null);
    setShare(0);
    upload(table, file, options, setShare, abort.current.signal)
      .then((done) => {
        setReceipt(done);
        void client.invalidateQueries({ queryKey: ["tables"] });
      })
      .catch((error: unknown) => {
        if (!(error instanceof DOMException)) setProblem(error as Problem);
      })
      .finally(() => setShare(null));
  };
  return { share, problem, receipt, start };
}
