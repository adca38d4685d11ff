// Names of files that people save.

/** A part of a name that every file system takes: letters, digits, `-`, `_` and `.` are kept. */
function part(text: string): string {
  const plain = text.normalize("NFC").replace(/[^\p{L}\p{N}_.-]+/gu, "-");
  const trimmed = [...plain.replace(/^[-.]+|[-.]+$/g, "")].slice(0, 60).join("");
  return trimmed === "" ? "table" : trimmed;
}

/** A moment in UTC, to the minute: `20261128T1405Z`. */
const moment = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace(/[-:]/g, "")}Z`;

/** What a file holds: a view of a table over a range of time, in milliseconds. */
export interface Contents {
  readonly table: string;
  readonly view: string;
  readonly from: number;
  readonly to: number;
}

/** The name of a file with these contents: `requests-table-20261128T1405Z-20261128T1505Z.csv`. */
export function fileName({ table, view, from, to }: Contents, extension: string): string {
  return `${part(table)}-${part(view)}-${moment(from)}-${moment(to)}.${extension}`;
}
