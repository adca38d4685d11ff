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
