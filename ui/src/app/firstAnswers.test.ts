import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, test, vi } from "vitest";
import { askFirst } from "./firstAnswers";

const time = "2026-11-29T12:00:00Z";
const table = { name: "requests", rows: 9, column_count: 2, first_time: time, last_time: time };
const column = (name: string, type: string) => ({
  ...{
    name,
    type,
    is_time: false,
    null_fraction: 0,
    rows: 1000,
    distinct: type === "string" ? 9 : 900,
  },
  parts: [{ rows: 9 }],
});
const columns = [column("service", "string"), column("latency", "number")];

const answers: Record<string, unknown> = {
  "/v1/tables": { tables: [table] },
  "/v1/tables/requests": { rows: 9, columns },
  "/v1/tables/requests/columns?limit=1000": { columns, complete: true, more: false },
  "/v1/tables/requests/settings": { settings: {} },
  "/v1/query": { rows: [[1, 2, 3, 4]] },
};

let sent: string[] = [];
const location = { search: "", pathname: "/" };
const store = { getItem: () => null };

beforeEach(() => {
  sent = [];
  location.search = "";
  const replaceState = (_: unknown, __: string, search: string) => {
    location.search = search;
  };
  const page = { location, history: { replaceState }, localStorage: store };
  vi.stubGlobal("window", page);
  vi.stubGlobal("localStorage", store);
  vi.stubGlobal("sessionStorage", store);
  vi.stubGlobal("fetch", async (path: string, { body }: RequestInit) => {
    sent.push(body ? String(body) : path);
    return Response.json(answers[path]);
  });
});

test("asks for the first picture of an empty address, and completes it", async () => {
  const client = new QueryClient();
  await askFirst(client, new AbortController().signal);
  expect(location.search).toBe("?table=requests&from=all");
  // The overview's chart, its head, a facet of values, and one of numbers, which asks twice.
  const asked = client.getQueryCache().findAll({ queryKey: ["answer"] });
  expect(asked.map(({ state }) => state.status)).toEqual(Array(5).fill("success"));
  expect(new Set(sent).size).toBe(sent.length);
});

test("asks nothing of another page, and nothing more once the page is drawn", async () => {
  location.search = "?page=home";
  await askFirst(new QueryClient(), new AbortController().signal);
  expect(sent).toEqual([]);
  location.search = "";
  await askFirst(new QueryClient(), AbortSignal.abort());
  expect(sent).toEqual(["/v1/tables"]);
  expect(location.search).toBe("");
});
