// A table as text to paste: tab-separated for spreadsheets and editors, HTML for documents.

type Value = unknown;

const text = (value: Value): string => {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

/** A cell of tab-separated text: in quotes where it has a tab, a line end or a quote. */
function tabCell(value: Value): string {
  const plain = text(value);
  return /[\t\r\n"]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Lines of tab-separated cells; the first has the names. */
export function tabSeparated(
  names: readonly string[],
  rows: readonly (readonly Value[])[],
): string {
  return [names, ...rows].map((row) => row.map(tabCell).join("\t")).join("\n");
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** What XML cannot hold, half of a pair of surrogates included. */
const NO_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** A text as content, or as a quoted attribute, of XML and HTML. */
export const escaped = (plain: string): string =>
  plain.replace(NO_XML, "\uFFFD").replace(/[&<>"]/g, (letter) => ESCAPES[letter] ?? letter);

/** A table of HTML. Cells are text, whatever is in them. */
export function htmlTable(names: readonly string[], rows: readonly (readonly Value[])[]): string {
  const line = (cells: readonly Value[], tag: "th" | "td") =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(text(cell))}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${line(names, "th")}</thead><tbody>${rows.map((row) => line(row, "td")).join("")}</tbody></table>`;
}
