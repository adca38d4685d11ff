import { Badge, Group } from "@mantine/core";
import type { Cell, Type } from "../api/types";
import { exact, short } from "../base/format";
import { timeText, type Zone } from "../base/zone";

/** A cell as text: what copying gives and what a label says. */
export function cellText(cell: Cell, type: Type, zone: Zone): string {
  if (cell === null) return "(none)";
  if (type === "time" && typeof cell === "string") return timeText(Date.parse(cell), zone, true);
  if (type === "number" && typeof cell !== "object") return exact(String(cell));
  if (Array.isArray(cell)) return cell.length === 0 ? "(empty)" : cell.map(String).join(", ");
  return cell === "" ? "(empty text)" : String(cell);
}

/** A number for the eye; other cells as text. */
export function cellShort(cell: Cell, type: Type, zone: Zone): string {
  return type === "number" && typeof cell === "number" ? short(cell) : cellText(cell, type, zone);
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

/** A cell of raw rows: lists as small tags, the rest as text, search hits marked. */
export function CellView(props: {
  cell: Cell;
  type: Type;
  zone: Zone;
  search: string;
  all?: boolean;
}) {
  const { cell, type, zone, search, all = false } = props;
  if (cell === null) return <span className="faint">–</span>;
  if (!Array.isArray(cell) || cell.length === 0) {
    return <Marked text={cellText(cell, type, zone)} search={search} />;
  }
  const shown = all ? cell : cell.slice(0, 3);
  return (
    <Group gap={4} wrap={all ? "wrap" : "nowrap"} component="span" display="inline-flex">
      {shown.map((element, at) => (
        <Badge
          // biome-ignore lint/suspicious/noArrayIndexKey: the elements of a vector may repeat
          key={at}
          size="xs"
          variant="default"
          tt="none"
          fw={400}
          radius="sm"
          maw={all ? "100%" : 160}
          flex="none"
        >
          <Marked text={String(element)} search={search} />
        </Badge>
      ))}
      {cell.length > shown.length && <span className="faint">+{cell.length - shown.length}</span>}
    </Group>
  );
}
