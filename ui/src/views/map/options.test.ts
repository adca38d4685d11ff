import { expect, test } from "vitest";
import type { Column } from "../../api/types";
import { defaultQuery } from "../../query/query";
import { withOption } from "../../query/viewManifest";
import { COUNTRY, whereOf } from "./options";

const column = (name: string, type: string) => ({ name, type }) as Column;
const range = { from: 0, to: 1 };
const query = defaultQuery("t");

test("rows are in the countries of a column that is called so, or that the address names", () => {
  const columns = [column("origin", "string"), column("client_country", "string")];
  expect(whereOf({ query, columns, range })?.country).toBe("client_country");
  const other = withOption(query, COUNTRY, "origin");
  expect(whereOf({ query: other, columns, range })?.country).toBe("origin");
});

test("without countries, rows are at their latitude and longitude", () => {
  const columns = [column("lat", "number"), column("geo.lng", "number")];
  expect(whereOf({ query, columns, range })).toEqual({
    country: null,
    group: ["round(lat, 1)", 'round("geo.lng", 1)'],
  });
  expect(whereOf({ query, columns: columns.slice(1), range })).toBeNull();
});
