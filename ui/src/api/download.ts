// Answers as files: the server writes the format, and the page keeps the bytes until they are
// saved.

import { authorization, bodyOf, Problem, problemOfText, unreachable } from "./client";
import type { QuerySpec } from "./types";

export interface Format {
  readonly name: string;
  readonly accept: string;
  readonly extension: string;
  /** Rows that the server writes at most. */
  readonly rowsMost: number;
}

const STREAMED_ROWS_MOST = 10_000_000;
/** Rows of an answer in JSON, and of groups in any format. */
export const WHOLE_ROWS_MOST = 100_000;

/** The formats, the commonest first. */
export const FORMATS: readonly Format[] = [
  { name: "CSV", accept: "text/csv", extension: "csv", rowsMost: STREAMED_ROWS_MOST },
  { name: "JSON", accept: "application/json", extension: "json", rowsMost: WHOLE_ROWS_MOST },
  {
    name: "JSON lines",
    accept: "application/x-ndjson",
    extension: "jsonl",
    rowsMost: STREAMED_ROWS_MOST,
  },
  {
    name: "Arrow",
    accept: "application/vnd.apache.arrow.stream",
    extension: "arrows",
    rowsMost: STREAMED_ROWS_MOST,
  },
  {
    name: "Parquet",
    accept: "application/vnd.apache.parquet",
    extension: "parquet",
    rowsMost: STREAMED_ROWS_MOST,
  },
];

/** Bytes of a file that the page keeps at most; larger ones are for a command line. */
export const FILE_BYTES_MOST = 1 << 30;

/** Bytes that are handed to the browser, which may keep them on disk, before more are read. */
const PART_BYTES = 32 << 20;

/** How long the server may take for each page of a file. */
const DEADLINE_MS = 120_000;

/** The query of a file: as it is drawn, or without the limit of its rows. */
export function fileSpec(spec: QuerySpec, format: Format, all: boolean): QuerySpec {
  // One row for each group: what it was and what changed stand beside it.
  const compare =
    spec.compare && spec.bucket === undefined ? { ...spec.compare, columns: true as const } : null;
  const joined = compare ? { ...spec, compare } : spec;
  if (!all) return joined;
  const { limit: _, ...rest } = joined;
  return isRaw(spec) ? { ...rest, limit: format.rowsMost } : rest;
}

/** Whether it asks for rows as they were logged. */
export const isRaw = ({ group_by, aggregates, bucket }: QuerySpec): boolean =>
  (group_by ?? []).length === 0 && (aggregates ?? []).length === 0 && bucket === undefined;

/** What came, and what the server says of it. */
export interface Download {
  readonly blob: Blob;
  /** How many rows the file has; null where the server has not said it in time. */
  readonly rows: number | null;
  /** Whether a limit of the server ended the rows. */
  readonly cut: boolean;
  /** The share of the table's rows that the answer rests on. */
  readonly fraction: number;
}

interface Summary {
  readonly ended: boolean;
  readonly rows: number;
  readonly truncated: boolean;
  readonly coverage: { readonly fraction: number };
}

/** Fetches an answer as a file. `onBytes` hears how many have come. */
export async function download(
  spec: QuerySpec,
  format: Format,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Download> {
  const response = await fetch("/v1/query", {
    method: "POST",
    headers: { ...authorization(), "Content-Type": "application/json", Accept: format.accept },
    body: JSON.stringify({ ...JSON.parse(bodyOf(spec)), deadline_ms: DEADLINE_MS }),
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Problem(unreachable());
  });
  if (!response.ok) throw problemOfText(await response.text(), response.status);
  const parts = await read(response, onBytes, signal);
  const blob = new Blob(parts, { type: format.accept });
  const said = await summaryOf(response, blob, format);
  return {
    blob,
    rows: said?.ended === true ? said.rows : null,
    cut:
      said?.truncated === true ||
      (said?.ended === true && said.rows >= (spec.limit ?? WHOLE_ROWS_MOST)),
    fraction: said?.coverage.fraction ?? 1,
  };
}

async function read(
  response: Response,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Blob[]> {
  const parts: Blob[] = [];
  let waiting: BlobPart[] = [];
  let waitingBytes = 0;
  const handOver = () => {
    parts.push(new Blob(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  const reader = response.body?.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read().catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new Problem({
        ...unreachable(),
        title: "The file broke off",
        detail: "The server ended the answer before its last row. Nothing was saved.",
      });
    })) ?? { done: true, value: undefined };
    if (done || !value) {
      handOver();
      return parts;
    }
    bytes += value.byteLength;
    if (bytes > FILE_BYTES_MOST) {
      await reader?.cancel();
      throw new Problem({
        ...unreachable(),
        title: "The file is too large for the page",
        detail: "It has more than 1 GiB. Copy the query as curl, and let that write the file.",
      });
    }
    waiting.push(value);
    waitingBytes += value.byteLength;
    if (waitingBytes >= PART_BYTES) handOver();
    onBytes(bytes);
  }
}

/** Bytes at the end of a file that hold what there is to say of it. */
const TAIL_BYTES = 65_536;

/** What the server says of the answer: in the head of the response, or at the end of the file. */
async function summaryOf(response: Response, blob: Blob, format: Format): Promise<Summary | null> {
  if (format.extension === "json") {
    const answer = JSON.parse(await blob.text()) as Omit<
      Summary,
      "ended" | "rows" | "truncated"
    > & {
      rows: unknown[];
    };
    return { ended: true, rows: answer.rows.length, truncated: false, coverage: answer.coverage };
  }
  const head = summaryIn(response.headers.get("Hadal-Answer") ?? "");
  if (head?.ended === true) return head;
  if (format.extension === "csv" || format.extension === "jsonl") {
    const rows = await countLines(blob);
    const ended = format.extension === "csv" ? rows - 1 : rows;
    return head && { ...head, ended: true, rows: Math.max(0, ended) };
  }
  return summaryIn(await blob.slice(-TAIL_BYTES).text()) ?? head;
}

/** The last summary in a text that may have other bytes around it; null for none. */
export function summaryIn(text: string): Summary | null {
  const at = text.lastIndexOf('{"ended":');
  const [, ended, rows, truncated] =
    /^\{"ended":(true|false),"rows":(\d+),"truncated":(true|false)/.exec(
      text.slice(Math.max(0, at)),
    ) ?? [];
  if (rows === undefined) return null;
  const [, fraction = "1"] = /"fraction":([\d.e-]+)/.exec(text.slice(at)) ?? [];
  return {
    ended: ended === "true",
    rows: Number(rows),
    truncated: truncated === "true",
    coverage: { fraction: Number(fraction) },
  };
}

const [QUOTE, LINE_END] = [0x22, 0x0a];

/** Lines of a text; those within quotes are of the same line. */
async function countLines(blob: Blob): Promise<number> {
  const csv = blob.type === "text/csv";
  let lines = 0;
  let quoted = false;
  for (const reader = blob.stream().getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return lines;
    for (const byte of value) {
      if (csv && byte === QUOTE) quoted = !quoted;
      else if (byte === LINE_END && !quoted) lines++;
    }
  }
}
