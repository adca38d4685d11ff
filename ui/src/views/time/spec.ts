// The request of the time series.

import type { QuerySpec } from "../../api/types";
import { earlier } from "../../query/buckets";
import {
  baseSpec,
  comparedShift,
  compareOf,
  type ResolvedQuery,
  type SeriesRange,
  seriesAggregates,
  seriesRange,
} from "../../query/spec";
import { quoteName, quoteText } from "../../query/sql";
import { isoText } from "../../query/time";

/** The server compares whole buckets: what the range cuts off of the first ones is filtered. */
function cutFilters(resolved: ResolvedQuery, { range, start }: SeriesRange): string[] {
  const shift = comparedShift({ ...resolved, range });
  if (shift === null || start === range.from) return [];
  const time = quoteName(resolved.columns.find((it) => it.is_time)?.name ?? "time");
  const at = (ms: number) => quoteText(isoText(ms));
  return [
    `${time} >= ${at(earlier(range.from, shift, resolved.zone))}`,
    `(${time} < ${at(start)} OR ${time} >= ${at(range.from)})`,
  ];
}

/** Series over time: measures by group, the top series and the rest as "other". */
export function timeSpec(resolved: ResolvedQuery): QuerySpec {
  const { query } = resolved;
  const series = seriesRange(resolved);
  const { filter = [], ...rest } = baseSpec({ ...resolved, range: series.range });
  const filters = [...filter, ...cutFilters(resolved, series)];
  return {
    ...rest,
    ...(filters.length > 0 ? { filter: filters } : {}),
    bucket: series.bucket,
    group_by: [...query.group],
    aggregates: seriesAggregates(query),
    ...(query.group.length > 0 ? { series: query.series } : {}),
    // Bands around more lines than one would hide each other.
    ...(query.group.length === 0 && query.compare === "" ? { intervals: true } : {}),
    ...compareOf({ ...resolved, range: series.range }),
  };
}
