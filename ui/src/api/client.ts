// The requests that the page makes. Each takes a signal: an answer that nobody waits for any more
// is cancelled on the server when its connection closes.

import type { Cluster } from "./cluster";
import { expanded, withoutDefinitions } from "./definitions";
import { eventsOf } from "./events";
import type { Explanation, SidesOf } from "./explain";
import type { FunctionDefinition, VersionedFunction } from "./functions";
import type { Rollover } from "./rollover";
import type {
  Answer,
  Cell,
  Column,
  ColumnValue,
  LeafStatus,
  ProblemBody,
  QueryProgress,
  QuerySpec,
  SetSettings,
  Settings,
  Table,
} from "./types";

/** What went wrong, as the server says it, or that it could not be reached (`status` 0). */
export class Problem extends Error {
  readonly body: ProblemBody;

  constructor(body: ProblemBody) {
    super(body.detail);
    this.name = "Problem";
    this.body = body;
  }

  /** Whether there was no answer at all. */
  get unreachable(): boolean {
    return this.body.status === 0;
  }

  /** Whether the failure is temporary, so that a retry may succeed. */
  get passing(): boolean {
    return this.unreachable || this.body.status === 502 || this.body.status === 503;
  }

  /** Whether the answer would have taken longer than it may. */
  get late(): boolean {
    return this.body.status === 504;
  }

  /** Whether the detail says no more than the title. */
  get repeats(): boolean {
    const plain = (text: string) => text.trim().replace(/\.$/, "").toLowerCase();
    return plain(this.body.title) === plain(this.body.detail);
  }

  /** Whether somebody else was first. */
  get conflicts(): boolean {
    return this.body.status === 409;
  }

  /** Whether it is a matter of who asks. */
  get refused(): boolean {
    return this.needsToken || this.body.status === 403;
  }

  /** Whether the server wants a token. */
  get needsToken(): boolean {
    return this.body.status === 401;
  }
}

const TOKEN_KEY = "hadal-token";

/** Keeps the token for this tab only: it ends with it. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token);
}

let skew = 0;

/** The server's clock now, in milliseconds: its word on every answer, where it differs from ours. */
export function serverNow(): number {
  return Date.now() + skew;
}

function noteClock(response: Response): void {
  const theirs = Date.parse(response.headers.get("Date") ?? "");
  // The header has whole seconds.
  const apart = theirs + 500 - Date.now();
  if (!Number.isNaN(apart)) skew = Math.abs(apart) > 2000 ? apart : 0;
}

const wasCancelled = (error: unknown) =>
  error instanceof DOMException && error.name === "AbortError";

/** The response, asked for once more where there was none: a server that another one follows may
 * close a connection unheard, and the next one is the other's. What changes something is sent once. */
async function respond(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    const changes = init.method === "PUT" || init.method === "DELETE" || path === "/v1/snapshots";
    if (wasCancelled(error) || changes) throw error;
    return fetch(path, init);
  }
}

/** A successful response. */
async function request(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
  const headers = new Headers({
    ...authorization(),
    ...Object.fromEntries(new Headers(init.headers)),
  });
  let response: Response;
  try {
    response = await respond(path, { ...init, headers, signal: signal ?? null });
  } catch (error) {
    if (wasCancelled(error)) throw error;
    throw new Problem(unreachable());
  }
  noteClock(response);
  if (response.ok) return response;
  throw new Problem(problemOf(await response.json().catch(() => null), response));
}

/** The answer to a request, or the problem with it. */
export async function send<T>(path: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
  const response = await request(path, init, signal);
  return (await response.json().catch(() => null)) as T;
}

/** The header that carries the token, if there is one. */
export function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** The problem in the text of a response. */
export function problemOfText(text: string, status: number): Problem {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Something between the server and the page has answered.
  }
  return new Problem(problemOf(body, { status, statusText: "" }));
}

export function unreachable(): ProblemBody {
  return {
    type: "about:blank",
    title: "The server does not answer",
    status: 0,
    detail: "No connection to the server. The page tries again by itself.",
  };
}

function problemOf(body: unknown, response: Pick<Response, "status" | "statusText">): ProblemBody {
  if (typeof body === "object" && body !== null && "detail" in body) return body as ProblemBody;
  return {
    type: "about:blank",
    title: `The server answered ${response.status}`,
    status: response.status,
    detail: response.statusText || "There is no further word of it.",
  };
}

const get = <T>(path: string, signal?: AbortSignal) => send<T>(path, {}, signal);

/** All tables, by name. */
export async function fetchTables(signal?: AbortSignal): Promise<Table[]> {
  return (await get<{ tables: Table[] }>("/v1/tables", signal)).tables;
}

/** A table's columns as they are known at once: what their values are like is null. */
export async function fetchColumns(table: string, signal?: AbortSignal): Promise<Column[]> {
  const path = `/v1/tables/${encodeURIComponent(table)}`;
  const { rows, columns } = await get<Pick<Table, "rows"> & { columns: Column[] }>(path, signal);
  const unknown = { distinct: null, min: null, max: null, p50: null, p95: null };
  return columns.map((column) => {
    const there = column.parts.reduce((sum, part) => sum + part.rows, 0);
    const null_fraction = rows > 0 ? 1 - there / rows : 0;
    return { ...column, rows: there, null_fraction, ...unknown };
  });
}

export interface ColumnStats {
  columns: Column[];
  /** Whether all that is said of them is known; else ask again in a moment. */
  complete: boolean;
}

/** All columns of a table, with what their values are like: the server looks at every row for it. */
export async function fetchColumnStats(table: string, signal?: AbortSignal): Promise<ColumnStats> {
  const columns: Column[] = [];
  let complete = true;
  let after = "";
  for (;;) {
    const path = `/v1/tables/${encodeURIComponent(table)}/columns?limit=1000${after}`;
    const page = await get<ColumnStats & { more: boolean }>(path, signal);
    columns.push(...page.columns);
    complete &&= page.complete;
    const last = page.columns.at(-1);
    if (!page.more || !last) return { columns, complete };
    after = `&after=${encodeURIComponent(last.name)}`;
  }
}

/** The most frequent elements of a column of sets or vectors in a range that begin with a text. */
export async function fetchElements(
  { table, from = "", to = "" }: QuerySpec,
  column: string,
  limit: number,
  signal?: AbortSignal,
): Promise<ColumnValue[]> {
  const place = `/v1/tables/${encodeURIComponent(table)}/columns/${encodeURIComponent(column)}`;
  const keys = new URLSearchParams({ limit: String(limit), from, to });
  return (await get<{ values: ColumnValue[] }>(`${place}/values?${keys}`, signal)).values;
}

const settingsPath = (table: string) => `/v1/tables/${encodeURIComponent(table)}/settings`;

/** What is set for a table, what that comes to, and what will go. */
export const fetchSettings = (table: string, signal?: AbortSignal) =>
  get<Settings>(settingsPath(table), signal);

/** Sets all settings of a table at once, based on a version of them. */
export function putSettings(
  table: string,
  version: number,
  settings: SetSettings,
): Promise<Settings> {
  const body = JSON.stringify({ version, settings });
  const headers = { "Content-Type": "application/json" };
  return send<Settings>(settingsPath(table), { method: "PUT", headers, body });
}

const functionPath = (name: string) => `/v1/functions/${encodeURIComponent(name)}`;

/** All functions, by name. */
export const fetchFunctions = async (signal?: AbortSignal) =>
  (await get<{ functions: VersionedFunction[] }>("/v1/functions", signal)).functions;

/** Defines a function, or replaces this version of it; 0 if there is none. */
export function putFunction(
  version: number,
  { name, ...definition }: FunctionDefinition,
): Promise<VersionedFunction> {
  const body = JSON.stringify({ version, ...definition });
  const headers = { "Content-Type": "application/json" };
  return send<VersionedFunction>(functionPath(name), { method: "PUT", headers, body });
}

/** Drops a function. */
export async function dropFunction(name: string): Promise<void> {
  await send(functionPath(name), { method: "DELETE" });
}

/** A query as it is sent. Columns that the table does not have are null; `strict`: an error. */
export function bodyOf(spec: QuerySpec, strict = false): string {
  const { intervals, ...query } = withoutDefinitions(spec);
  const beside = intervals ? { intervals: "beside" } : {};
  return JSON.stringify({ query, null_if_absent: !strict, ...beside });
}

/** How the leaves are. */
export async function fetchLeaves(signal?: AbortSignal): Promise<LeafStatus[]> {
  return (await get<{ leaves: LeafStatus[] }>("/v1/status", signal)).leaves;
}

/** The cluster with its largest tables. */
export const fetchCluster = (tables: number, signal?: AbortSignal) =>
  get<Cluster>(`/v1/cluster?limit=${tables}`, signal);

const ROLLOVER = "/v1/rollover";

type RolloverAnswer = { rollover: Rollover | null };

/** The rollover that runs, or the last one; null if there was none. */
export const fetchRollover = async (signal?: AbortSignal) =>
  (await get<RolloverAnswer>(ROLLOVER, signal)).rollover;

/** Restarts all leaves in turn; with a time, those that were started before it. */
export async function beginRollover(started_before: string | null): Promise<void> {
  const body = JSON.stringify(started_before === null ? {} : { started_before });
  const headers = { "Content-Type": "application/json" };
  await send<RolloverAnswer>(ROLLOVER, { method: "POST", headers, body });
}

/** Restarts no more leaves. */
export async function stopRollover(): Promise<void> {
  await send<RolloverAnswer>(ROLLOVER, { method: "DELETE" });
}

/** What is known of a query before its answer: how far it has come, and an answer from the rows
 * scanned by then. */
export interface QueryUpdate {
  readonly progress: QueryProgress | null;
  readonly partial: Answer | null;
}

/**
 * The answer to a query. One that takes longer than a moment says how far it has come. `strict`
 * refuses columns that the table does not have.
 */
export async function ask(
  query: QuerySpec,
  signal?: AbortSignal,
  onUpdate: (update: QueryUpdate) => void = () => undefined,
  strict = false,
): Promise<Answer> {
  const body = bodyOf(query, strict);
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  const response = await request("/v1/query", { method: "POST", headers, body }, signal);
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (!isStream || !response.body) return (await response.json()) as Answer;
  let update: QueryUpdate = { progress: null, partial: null };
  let answer: Answer | null = null;
  try {
    // The body is read to its end, so that the connection can take the next request.
    for await (const { name, data } of eventsOf(response.body)) {
      if (name === "problem") throw problemOfText(data, 500);
      if (name === "answer") answer = JSON.parse(data) as Answer;
      if (answer) continue;
      if (name === "progress") update = { ...update, progress: JSON.parse(data) as QueryProgress };
      if (name === "partial") update = { ...update, partial: JSON.parse(data) as Answer };
      onUpdate(update);
    }
  } catch (error) {
    if (error instanceof Problem || wasCancelled(error)) throw error;
  }
  if (answer) return answer;
  // The connection broke off.
  throw new Problem(unreachable());
}

/** The answer to a statement of SQL. */
export function askSql(sql: string, signal?: AbortSignal): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  return send<Answer>(
    "/v1/query",
    { method: "POST", headers, body: JSON.stringify({ sql }) },
    signal,
  );
}

/** What the rows of one side have that those of the other have not. */
export function explain(
  { compare, ...rows }: QuerySpec,
  sides: SidesOf,
  signal?: AbortSignal,
): Promise<Explanation> {
  const { define = [] } = rows;
  const texts = Object.entries(sides).map(([key, text]) => [key, expanded(text, define)]);
  // The columns are those of the table: a comparison has none of its own.
  const { columns, ...spec } = withoutDefinitions(rows);
  const query = { ...spec, compare: Object.fromEntries(texts) };
  const body = JSON.stringify({ query });
  const headers = { "Content-Type": "application/json" };
  return send<Explanation>("/v1/explain", { method: "POST", headers, body }, signal);
}

/** A cell that holds a number, as one; null for any other. */
export function numberOf(cell: Cell | undefined): number | null {
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean") return cell ? 1 : 0;
  if (typeof cell !== "string" || cell === "") return null;
  const number = Number(cell);
  return Number.isNaN(number) ? null : number;
}
