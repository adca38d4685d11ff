import { filterLabel } from "../query/filter";
import { measureLabel } from "../query/measure";
import { PREVIOUS, type Query } from "../query/query";
import { groupLabel } from "../query/sql";
import { Chip } from "../widgets/Chip";
import { rangeWords } from "../widgets/time/timeWords";
import { useExplore } from "./context";

/** The parts of a query in a few words each: those that are not as usual. */
export function queryWords(query: Query): string[] {
  const { compare, measures, group, filters, search, where } = query;
  const compared = compare === PREVIOUS ? "vs previous period" : `vs ${compare} before`;
  const isUsual = measures.length === 1 && measures[0] === "count(*)";
  return [
    ...(compare === "" ? [] : [compared]),
    ...filters.map(filterLabel),
    ...(search === "" ? [] : [`“${search}”`]),
    ...(where.trim() === "" ? [] : [where.trim()]),
    ...(group.length === 0 ? [] : [`by ${group.map(groupLabel).join(", ")}`]),
    ...(isUsual ? [] : [measures.map(measureLabel).join(", ")]),
  ];
}

/** The query in a line above the answer, where the sidebar is hidden. A press shows the sidebar. */
export function QueryLine({ onOpen }: { onOpen: () => void }) {
  const { query, now, zone } = useExplore();
  const words = [query.table, rangeWords(query.from, query.to, now, zone), ...queryWords(query)];
  return (
    <section className="query-line" aria-label="Query" data-testid="query-line">
      {words.map((it) => (
        <Chip key={it} title={it} onClick={onOpen}>
          {it}
        </Chip>
      ))}
    </section>
  );
}
