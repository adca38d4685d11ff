import type { Cell, Type } from "../api/types";
import { exact, listText, visible } from "../base/format";
import { timeText, type Zone } from "../base/zone";

/** A cell as text that can be read whole. Numbers that are names stand without groups of digits. */
export function cellText(cell: Cell, type: Type, zone: Zone, isName = false): string {
  if (cell === null) return "(none)";
  if (type === "time" && typeof cell === "string") return timeText(Date.parse(cell), zone, true);
  if (type === "number" && typeof cell !== "object") {
    return isName ? String(cell) : exact(String(cell));
  }
  if (Array.isArray(cell)) return listText(cell);
  return cell === "" ? "(empty text)" : visible(String(cell));
}

/** A cell as it is stored: what copying gives. */
export function rawText(cell: Cell): string {
  if (cell === null) return "";
  return Array.isArray(cell) ? JSON.stringify(cell) : String(cell);
}

/** Whether a cell has in it what is searched for. */
export function isHit(cell: Cell | undefined, search: string): boolean {
  if (search === "" || cell === null || cell === undefined || typeof cell === "number")
    return false;
  const texts = Array.isArray(cell) ? cell : [cell];
  return texts.some((text) => String(text).toLowerCase().includes(search.toLowerCase()));
}

/** How much of a long text stands before its first hit in a narrow cell. */
const LEAD = 12;

/** The part of a text that begins shortly before its first hit. */
function fromHit(text: string, search: string): string {
  const at = search === "" ? -1 : text.toLowerCase().indexOf(search.toLowerCase());
  return at > 2 * LEAD ? `…${text.slice(at - LEAD)}` : text;
}

/** A text with the places marked where it has what was searched for, whatever the case. */
export function Marked({ text, search }: { text: string; search: string }) {
  if (search === "") return text;
  const parts: { text: string; hit: boolean; at: number }[] = [];
  const lower = text.toLowerCase();
  const wanted = search.toLowerCase();
  let from = 0;
  // Where lower case has another length, places would be wrong: then nothing is marked.
  const places = lower.length === text.length;
  for (let at = lower.indexOf(wanted); places && at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push({ text: text.slice(from, at), hit: false, at: from });
    parts.push({ text: text.slice(at, at + wanted.length), hit: true, at });
    from = at + wanted.length;
  }
  parts.push({ text: text.slice(from), hit: false, at: from });
  return parts.map((part) => (part.hit ? <mark key={part.at}>{part.text}</mark> : part.text));
}

/** A cell of raw rows: lists as small tags, the rest as text, search hits marked and in sight. */
export function CellView(props: {
  cell: Cell;
  type: Type;
  zone: Zone;
  search: string;
  isName: boolean;
  all?: boolean;
}) {
  const { cell, type, zone, search, isName, all = false } = props;
  if (cell === null) return <span className="faint">–</span>;
  if (!Array.isArray(cell) || cell.length === 0) {
    const text = cellText(cell, type, zone, isName);
    return <Marked text={all ? text : fromHit(text, search)} search={search} />;
  }
  // In the order of the list, but those that were found before the others.
  const hitsFirst = all ? cell : cell.toSorted((a, b) => rank(a, search) - rank(b, search));
  const shown = all ? cell : hitsFirst.slice(0, 3);
  return (
    <span className={all ? (type === "vector" ? "tags all lines" : "tags all") : "tags"}>
      {shown.map((element, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the elements of a vector may repeat
        <span key={at} className="tag">
          <Marked text={visible(String(element))} search={search} />
        </span>
      ))}
      {cell.length > shown.length && <span className="faint">+{cell.length - shown.length}</span>}
    </span>
  );
}

const rank = (element: unknown, search: string) =>
  search !== "" && String(element).toLowerCase().includes(search.toLowerCase()) ? 0 : 1;
