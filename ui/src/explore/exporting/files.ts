import { Problem } from "../../api/client";
import { download, type Format } from "../../api/download";
import type { QuerySpec } from "../../api/types";
import { bytes, counted, percent } from "../../base/format";
import { listFile } from "../../widgets/incoming";
import { tell } from "../../widgets/notice";

/** Lets the browser save a file under a name. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Once the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Fetches an answer as a file and saves it. The page lists it until it is there, or has failed. */
export async function fetchFile(spec: QuerySpec, format: Format, name: string): Promise<void> {
  const listed = listFile(name);
  try {
    const file = await download(spec, format, listed.progress, listed.signal);
    save(file.blob, name);
    tell(savedWords(name, file));
    listed.remove();
  } catch (error) {
    listed.fail(failureWords(error));
  }
}

function failureWords(error: unknown): string {
  const { title, detail } = error instanceof Problem ? error.body : { title: "", detail: "" };
  return `${title || "The file could not be saved"}. ${detail}`.trim();
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
