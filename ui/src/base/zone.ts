// Times in the reader's choice of zone. Charts get times moved by the zone's offset and draw them
// as UTC, so that any zone works, its summer time included.

/** `local`, `UTC`, or the IANA name of a zone. */
export type Zone = string;

// The first use of Intl takes a browser a tenth of a second: what a first picture needs does
// without, as long as the zone is the browser's own.
const formats = new Map<string, Intl.DateTimeFormat>();

function partsFormat(zone: Zone): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached) return cached;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

/** Names of UTC, and names that the server does not know. */
const NO_ZONE = /^(UTC|GMT|Etc\/(UTC|GMT|UCT|Zulu|Universal|Greenwich|Unknown)|[+-].*|)$/;

/** What newer browsers have instead of Intl, and TypeScript does not know yet. */
const { Temporal: temporal } = globalThis as {
  Temporal?: { readonly Now: { timeZoneId(): string } };
};

let localName: string | undefined;

/** The IANA name of the browser's zone; empty if it has none. Asked for once, as that takes long. */
function localZone(): string {
  localName ??=
    temporal?.Now.timeZoneId() ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  return localName;
}

/** The IANA name of the zone whose calendar a query is asked in. */
export function calendarZone(zone: Zone): string {
  const name = zone === "local" ? localZone() : zone;
  return NO_ZONE.test(name) ? "UTC" : name;
}

/** A moment in milliseconds, moved so that its UTC fields read as the zone's wall clock. */
export function zoned(ms: number, zone: Zone): number {
  if (zone === "UTC") return ms;
  if (zone === "local") return wallClock(new Date(ms));
  const parts: Record<string, number> = {};
  for (const { type, value } of partsFormat(zone).formatToParts(ms)) parts[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  return wall + (((ms % 1000) + 1000) % 1000);
}

/** A moment moved so that its UTC fields read as the wall clock of the browser's zone. */
function wallClock(date: Date): number {
  const wall = new Date(0);
  wall.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate());
  wall.setUTCHours(date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds());
  return wall.getTime();
}

/** The moment whose wall clock in the zone is `wall`; the opposite of `zoned`. */
export function unzoned(wall: number, zone: Zone): number {
  const guess = wall - (zoned(wall, zone) - wall);
  return guess - (zoned(guess, zone) - wall);
}

/** So far from 1970 a date reaches, with room for any zone. */
const CALENDAR_MS = 8.64e15 - 2 * 86_400_000;

/** `2026-11-21 03:51:42` in the zone; milliseconds where asked for. */
export function timeText(ms: number, zone: Zone, millis = false): string {
  // Event data may hold moments that no calendar has.
  if (!(Math.abs(ms) <= CALENDAR_MS)) return "not a time";
  const text = new Date(zoned(ms, zone)).toISOString();
  return text.slice(0, millis ? 23 : 19).replace("T", " ");
}

/** The shortest text of a moment that differs from those of moments `stepMs` away. */
export function axisText(ms: number, zone: Zone, stepMs: number): string {
  const text = timeText(ms, zone, true);
  const [day = "", clock = ""] = text.split(" ");
  if (stepMs >= 86_400_000) return day;
  if (stepMs >= 60_000) return `${day} ${clock.slice(0, 5)}`;
  return stepMs >= 1000 ? `${day} ${clock.slice(0, 8)}` : text;
}

/** A name of the zone for the reader: `local (Europe/Berlin)`. */
export function zoneName(zone: Zone): string {
  if (zone !== "local") return zone;
  return `Local (${localZone()})`;
}

/** Two moments to the minute; a day that both have stands once: `2026-11-27 15:00 – 16:30`. */
export function spanText({ from, to }: { from: number; to: number }, zone: Zone): string {
  const [first, last] = [timeText(from, zone).slice(0, 16), timeText(to, zone).slice(0, 16)];
  const day = 10;
  const isOneDay = first.slice(0, day) === last.slice(0, day);
  return `${first} – ${isOneDay ? last.slice(day + 1) : last}`;
}
