import { expect, test } from "vitest";
import { tableOf } from "./importing";

test("tables are named after files, as hadal import does", () => {
  expect(
    ["web.csv.gz", "flights-3m.parquet", "_own.json", "été 1.csv", ".hidden", "..."].map(tableOf),
  ).toEqual(["web", "flights-3m", "own", "t__1", "hidden", "data"]);
});
