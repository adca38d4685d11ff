import type { Column } from "../../api/types";
import type { ResolvedQuery } from "../../query/spec";
import { columnOf, quoteName } from "../../query/sql";
import { columnOption, optionOf } from "../../query/viewManifest";

/** The column with countries; empty: a group or a column that is called so. */
export const COUNTRY = columnOption("country", ["string"]);

const COUNTRY_NAME = /(^|[._-])(country|nation|countries|iso2|iso3)($|[._-])|Country|country_?code/;
const LATITUDE = /(^|[._-])(lat|latitude)$/i;
const LONGITUDE = /(^|[._-])(lon|lng|long|longitude)$/i;

/** Where the rows of a query are: in countries, or at places. */
export type Where =
  | { readonly country: string; readonly group: readonly string[] }
  | { readonly country: null; readonly group: readonly string[] };

/** What a query is grouped by on the map; null if no column says where rows are. */
export function whereOf({ query, columns }: ResolvedQuery): Where | null {
  const texts = columns.filter(({ type }) => type === "string").map(({ name }) => name);
  const named = optionOf(query, COUNTRY);
  const grouped = query.group.flatMap((it) => columnOf(it) ?? []);
  const country =
    texts.find((name) => name === named) ??
    grouped.find((name) => texts.includes(name) && COUNTRY_NAME.test(name)) ??
    texts.find((name) => COUNTRY_NAME.test(name));
  if (country !== undefined) return { country, group: [quoteName(country)] };
  const [latitude, longitude] = [numberNamed(columns, LATITUDE), numberNamed(columns, LONGITUDE)];
  if (latitude === undefined || longitude === undefined) return null;
  // Places within some kilometres are one.
  const rounded = (name: string) => `round(${quoteName(name)}, 1)`;
  return { country: null, group: [rounded(latitude), rounded(longitude)] };
}

function numberNamed(columns: readonly Column[], name: RegExp): string | undefined {
  return columns.find((it) => it.type === "number" && name.test(it.name))?.name;
}
