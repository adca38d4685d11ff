import { afterEach, expect, it, vi } from "vitest";
import { ask, fetchTables, Problem, putSettings } from "./client";

afterEach(() => vi.unstubAllGlobals());

/** A server that does not answer the first requests; returns the requests. */
function serverThatMisses(first: number): string[] {
  const resolved: string[] = [];
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async (path: string) => {
    resolved.push(path);
    if (resolved.length <= first) throw new TypeError("fetch failed");
    return new Response(JSON.stringify({ tables: [] }));
  });
  return resolved;
}

const problem = (title: string, detail: string, status = 504) =>
  new Problem({ type: "about:blank", title, status, detail });

it("knows a late answer, and a detail that only repeats the title", () => {
  const late = problem("There is no answer by the deadline", "there is no answer by the deadline");
  expect(late).toMatchObject({ late: true, repeats: true, passing: false });
  const other = problem("A limit was reached", "more than 1,000 groups", 422);
  expect(other).toMatchObject({ late: false, repeats: false });
});

it("asks once more where there was no answer, and no more than that", async () => {
  const once = serverThatMisses(1);
  expect(await fetchTables()).toEqual([]);
  expect(once).toEqual(["/v1/tables", "/v1/tables"]);
  const twice = serverThatMisses(2);
  await expect(ask({ table: "t" })).rejects.toMatchObject({ unreachable: true });
  expect(twice).toEqual(["/v1/query", "/v1/query"]);
});

/** A server that answers a query with these events. */
function serverOfEvents(events: string, status = 200): void {
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  const headers = { "Content-Type": "text/event-stream" };
  vi.stubGlobal("fetch", async () => new Response(events, { status, headers }));
}

it("says how far a query has come, and returns its answer", async () => {
  const events = [
    'event: progress\ndata: {"rows_scanned": 5}\n\n',
    'event: partial\ndata: {"rows": [[5]]}\n\n',
    'event: answer\ndata: {"rows": [[9]]}\n\n',
  ];
  serverOfEvents(events.join(""));
  const updates: unknown[] = [];
  const answer = await ask({ table: "t" }, undefined, (update) => updates.push(update));
  expect(answer.rows).toEqual([[9]]);
  const progress = { rows_scanned: 5 };
  expect(updates).toEqual([
    { progress, partial: null },
    { progress, partial: { rows: [[5]] } },
  ]);
});

it("fails with the problem of a query that began, and when the answer breaks off", async () => {
  serverOfEvents('event: problem\ndata: {"title": "Late", "status": 504, "detail": "x"}\n\n');
  await expect(ask({ table: "t" })).rejects.toMatchObject({ late: true });
  serverOfEvents('event: progress\ndata: {}\n\nevent: answer\ndata: {"ro');
  await expect(ask({ table: "t" })).rejects.toMatchObject({ unreachable: true });
});

it("never sends what changes something twice", async () => {
  const resolved = serverThatMisses(1);
  await expect(putSettings("t", 0, {} as never)).rejects.toMatchObject({ unreachable: true });
  expect(resolved).toHaveLength(1);
});

it("does not go on with what was cancelled", async () => {
  const resolved: string[] = [];
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async (path: string) => {
    resolved.push(path);
    throw new DOMException("cancelled", "AbortError");
  });
  await expect(fetchTables()).rejects.toMatchObject({ name: "AbortError" });
  expect(resolved).toHaveLength(1);
});
