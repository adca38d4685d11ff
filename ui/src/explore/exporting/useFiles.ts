import { useEffect, useRef, useState } from "react";
import { Problem } from "../../api/client";
import { download, type Format, fileSpec } from "../../api/download";
import type { QuerySpec } from "../../api/types";
import { bytes, counted, percent } from "../../base/format";
import { tell } from "../../widgets/notice";

/** A file that is on its way. */
export interface Incoming {
  readonly name: string;
  readonly bytes: number;
}

/** Lets the browser save a file under a name. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Once the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Fetches answers as files and saves them, one at a time. */
export function useFiles(): {
  incoming: Incoming | null;
  fetchFile: (spec: QuerySpec, format: Format, all: boolean, name: string) => Promise<void>;
  cancel: () => void;
} {
  const [incoming, setIncoming] = useState<Incoming | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const fetchFile = async (spec: QuerySpec, format: Format, all: boolean, name: string) => {
    running.current?.abort();
    const job = new AbortController();
    running.current = job;
    setIncoming({ name, bytes: 0 });
    try {
      const progress = (many: number) => setIncoming({ name, bytes: many });
      const file = await download(fileSpec(spec, format, all), format, progress, job.signal);
      save(file.blob, name);
      tell(savedWords(name, file));
    } catch (error) {
      if (job.signal.aborted) return;
      const { title, detail } = error instanceof Problem ? error.body : { title: "", detail: "" };
      tell(`${title || "The file could not be saved"}. ${detail}`, true);
    } finally {
      if (running.current === job) setIncoming(null);
    }
  };
  const cancel = () => {
    running.current?.abort();
    running.current = null;
    setIncoming(null);
  };
  return { incoming, fetchFile, cancel };
}

/** What a saved file has, and what it has not. */
export function savedWords(
  name: string,
  file: { blob: { size: number }; rows: number | null; cut: boolean; fraction: number },
): string {
  const rows = file.rows === null ? "" : `${counted(file.rows, "row")}, `;
  const cut = file.cut ? " It was cut at this limit: there may be more rows." : "";
  const partly =
    file.fraction < 1
      ? ` It is incomplete: it rests on ${percent(file.fraction)} of the rows.`
      : "";
  return `Saved ${name}: ${rows}${bytes(file.blob.size)}.${cut}${partly}`;
}
