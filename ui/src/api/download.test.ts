import { expect, test } from "vitest";
import { FORMATS, fileSpec, summaryIn } from "./download";

const [csv, json] = FORMATS as [(typeof FORMATS)[0], (typeof FORMATS)[0]];
const rows = { table: "t", from: "-1h", limit: 100 };
const groups = { ...rows, group_by: ["a"], aggregates: ["count(*)"] };

test("a file has the rows that are drawn, or as many as the format can have", () => {
  expect(fileSpec(rows, csv, false).limit).toBe(100);
  expect(fileSpec(rows, csv, true).limit).toBe(10_000_000);
  expect(fileSpec(rows, json, true).limit).toBe(100_000);
  expect(fileSpec(groups, csv, true).limit).toBeUndefined();
});

test("compared groups stand in a row of the file, compared times do not", () => {
  const compare = { shift: "1d" };
  expect(fileSpec({ ...groups, compare }, csv, false).compare).toEqual({
    ...compare,
    columns: true,
  });
  expect(fileSpec({ ...groups, bucket: "1m", compare }, csv, false).compare).toEqual(compare);
});

test("the summary is read from a header, and from among the last bytes of a file", () => {
  const summary =
    '{"ended":true,"rows":12,"truncated":true,"coverage":{"leaves_asked":2,"fraction":0.5,"x":1}}';
  const read = { ended: true, rows: 12, truncated: true, coverage: { fraction: 0.5 } };
  expect(summaryIn(summary)).toEqual(read);
  expect(summaryIn(`\ufffd{"ended":false,"rows":0}\u0000${summary}PAR1`)).toEqual(read);
  expect(summaryIn("PAR1")).toBeNull();
});
