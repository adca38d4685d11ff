import { expect, test } from "vitest";
import type { Answer } from "../api/types";
import { sourceOf } from "./SnapshotPage";

const answer = { columns: [], rows: [[7]] } as unknown as Answer;

test("a frozen answer is that of the same request, whatever the order of its keys", async () => {
  const request = { query: { table: "t", limit: 3 }, null_if_absent: true };
  const source = sourceOf({ answers: [{ request, answer }] });
  await expect(source({ limit: 3, table: "t" })).resolves.toBe(answer);
});

test("what was not frozen is refused, not asked", async () => {
  const source = sourceOf({ answers: [] });
  await expect(source({ table: "t" })).rejects.toThrow("does not have it");
});
