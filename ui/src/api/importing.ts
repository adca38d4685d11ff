// Rows of a file: how the server would read them, and sending them.

import { authorization, Problem, problemOfText, unreachable } from "./client";

/** What a user can say about a file; what is left out is detected. The names of headers. */
export type ReadOptions = Partial<
  Record<
    "format" | "separator" | "decimal" | "header" | "skip" | "time" | "time-format" | "zone",
    string
  >
>;

export interface IngestWarning {
  code: string;
  count: number;
  message: string;
}

export interface Reject {
  line: number;
  reason: string;
}

export interface RejectKind {
  kind: string;
  count: number;
  line: number;
  reason: string;
}

/** How a file would be read: the conclusions, what they stand on, and the first rows. */
export interface Explanation {
  detected: string;
  evidence: string[];
  rows: Record<string, unknown>[];
  warnings: IngestWarning[];
  rejected: Reject[];
  time_from: string;
  /** Whether the file is longer than what was read of it. */
  isCut: boolean;
}

/** What became of the rows of a file. */
export interface Receipt {
  accepted: number;
  rejected_count: number;
  rejected: Reject[];
  reject_kinds?: RejectKind[];
  warnings: IngestWarning[];
  detected?: string;
  time_from: string;
}

/**
 * The bytes of a file that a preview is made of. The server reads as many of a body that it only
 * explains, and does not judge the record that ends there.
 */
export const HEAD_BYTES = 1 << 20;

/** The options as headers of a request. */
function headersOf(file: File, options: ReadOptions): Record<string, string> {
  const headers: Record<string, string> = {
    ...authorization(),
    "Content-Type": "application/octet-stream",
    "Hadal-Name": encodeURIComponent(file.name),
  };
  for (const [name, value] of Object.entries(options)) {
    if (value) headers[`Hadal-${name}`] = value;
  }
  return headers;
}

/** How a file is compressed, by its name; the server knows it by the header. */
function encodingOf(file: File): "gzip" | "zstd" | null {
  if (/\.gz$/i.test(file.name)) return "gzip";
  return /\.zst$/i.test(file.name) ? "zstd" : null;
}

/** The first bytes of a file, unpacked if it is gzip. */
async function headOf(file: File): Promise<ArrayBuffer> {
  if (encodingOf(file) !== "gzip") return file.slice(0, HEAD_BYTES).arrayBuffer();
  // What does not shrink is a little longer when it is packed.
  const reader = file
    .slice(0, 2 * HEAD_BYTES)
    .stream()
    .pipeThrough(new DecompressionStream("gzip"))
    .getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    while (length < HEAD_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
  } catch {
    // The compressed bytes end in the middle, as they were cut.
  }
  void reader.cancel().catch(() => undefined);
  return new Blob(pieces).slice(0, HEAD_BYTES).arrayBuffer();
}

/** Asks how the beginning of a file would be read. Nothing is stored. */
export async function explain(
  table: string,
  file: File,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<Explanation> {
  const headers = { ...headersOf(file, options), "Hadal-Explain": "true" };
  const body = await headOf(file);
  const path = `/v1/log/${encodeURIComponent(table)}`;
  const response = await fetch(path, { method: "POST", headers, body, signal }).catch((error) => {
    throw error instanceof DOMException ? error : new Problem(unreachable());
  });
  const text = await response.text();
  if (!response.ok) throw problemOfText(text, response.status);
  // The server unpacks zstd: how long it is then is not known here.
  return { ...(JSON.parse(text) as Explanation), isCut: body.byteLength >= HEAD_BYTES };
}

/** Sends a file; `progress` gets the share that has been sent, from 0 to 1. */
export function upload(
  table: string,
  file: File,
  options: ReadOptions,
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<Receipt> {
  return new Promise((resolve, reject) => {
    // fetch does not say how much has been sent.
    const request = new XMLHttpRequest();
    request.open("POST", `/v1/log/${encodeURIComponent(table)}`);
    for (const [name, value] of Object.entries(headersOf(file, options))) {
      request.setRequestHeader(name, value);
    }
    request.setRequestHeader("Hadal-Any-Age", "true");
    const encoding = encodingOf(file);
    if (encoding) request.setRequestHeader("Content-Encoding", encoding);
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) {
        resolve(JSON.parse(request.responseText) as Receipt);
      } else {
        reject(problemOfText(request.responseText, request.status));
      }
    };
    request.onerror = () => reject(new Problem(unreachable()));
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** The name of the table of a file, as `hadal import` chooses it. */
export function tableOf(fileName: string): string {
  const stem = fileName.replace(/^[._]+/, "").split(".")[0] ?? "";
  const table = stem
    .replaceAll(/[^A-Za-z0-9_-]/g, "_")
    .slice(0, 100)
    .replace(/^_+/, "");
  return table || "data";
}
