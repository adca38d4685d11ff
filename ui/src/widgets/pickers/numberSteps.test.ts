import { expect, test } from "vitest";
import type { Column } from "../../api/types";
import { numberSteps } from "./numberSteps";

const column = (change: Partial<Column>) =>
  ({
    name: "latency_us",
    type: "number",
    min: 0,
    p95: 480_000,
    distinct: 9000,
    ...change,
  }) as Column;

test("a column of many numbers has about ten round steps in its unit", () => {
  expect(numberSteps(column({}))).toEqual({
    label: "latency_us by 50 ms",
    expression: 'bucket(latency_us, 50000) AS "latency_us by 50 ms"',
  });
  expect(numberSteps(column({ name: "Größe", min: 1, p95: 31 }))?.expression).toBe(
    'bucket("Größe", 5) AS "Größe by 5"',
  );
});

test("few values, texts and columns that are not known yet have none", () => {
  expect(numberSteps(column({ distinct: 9 }))).toBeNull();
  expect(numberSteps(column({ type: "string" }))).toBeNull();
  expect(numberSteps(column({ min: null, p95: null, max: null }))).toBeNull();
  expect(numberSteps(column({ min: 5, p95: 5 }))).toBeNull();
});
