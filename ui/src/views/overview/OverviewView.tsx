import { Group, Paper, SimpleGrid, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import { useMemo } from "react";
import { numberOf } from "../../api/client";
import type { Cell, Column, QuerySpec } from "../../api/types";
import { exact, percent, short } from "../../base/format";
import { useAnswer } from "../../explore/answers";
import { cellText } from "../../explore/CellText";
import { rankByRepetition, rankColumns } from "../../explore/columnRanking";
import { pointOf, useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { pickOf, toggleGroup } from "../../query/edit";
import { measureLabel } from "../../query/measure";
import type { Query } from "../../query/query";
import { seriesRange, topValuesSpec } from "../../query/spec";
import { quoteName } from "../../query/sql";
import { withView } from "../../query/viewManifest";
import { countRows } from "../../widgets/coverage/coverage";
import { ProblemCard } from "../../widgets/ProblemCard";
import { SampleRows } from "../samples/SampleRows";
import { samplesSpec } from "../samples/spec";
import { MeasureChart } from "../time/TimeView";
import { chartQuery, eventsSpec } from "./spec";

const FACETS = 6;
const FACET_VALUES = 6;
/** Values that are requested, so that the number of further ones is known. */
const FACET_LOOK = 101;
const SAMPLES = 12;

/** What a table is like at first sight: what happens over time, top values, a handful of rows. */
export function OverviewView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, columns, statsLoaded, commit } = useExplore();
  const plain = useMemo(() => chartQuery(resolved), [resolved]);
  const overTime = useAnswer(spec);
  const samples = useAnswer(samplesSpec(resolved, SAMPLES));
  // A compared chart may begin later than what is asked of the facets.
  const cut = seriesRange(plain).range.from > resolved.range.from;
  const counted = useAnswer(cut ? eventsSpec(resolved) : null);
  const whole = cut ? counted.data : overTime.data;
  const events = whole ? (countRows(whole).events ?? 0) : 0;
  // Column statistics of many rows take time; until then, a few sample rows decide.
  const guessed = statsLoaded && !haveStats(columns);
  const repeatingNames =
    guessed && samples.data ? rankByRepetition(samples.data, query, FACETS) : [];
  const facets = haveStats(columns)
    ? rankColumns(columns, query, FACETS)
    : columns.filter((column) => repeatingNames.includes(column.name));
  // What is wrong with the query is said once.
  const some = !overTime.error && overTime.data?.stats.rows_matched !== 0;
  return (
    <Stack gap="lg">
      <ViewFrame title={titleOf(plain.query)} spec={spec} result={overTime} height={220}>
        {(answer) => <MeasureChart answer={answer} at={0} height={220} bare of={plain} />}
      </ViewFrame>
      {some && (
        <>
          <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="sm">
            {facets.map((column) => (
              <Facet key={column.name} column={column} events={events} />
            ))}
            {haveStats(columns) ||
              facets.length > 0 ||
              ["first", "second", "third"].map((it) => <Skeleton key={it} h={170} />)}
          </SimpleGrid>
          <Stack gap={4}>
            <Group justify="space-between">
              <Text size="sm" fw={600} component="h2" m={0}>
                Newest rows
              </Text>
              <UnstyledButton fz="xs" c="blue" onClick={() => commit(withView(query, "samples"))}>
                All samples
              </UnstyledButton>
            </Group>
            {samples.error ? (
              <ProblemCard problem={samples.error} onRetry={() => void samples.refetch()} />
            ) : samples.data ? (
              <SampleRows answer={samples.data} most={SAMPLES} />
            ) : (
              <Skeleton h={260} />
            )}
          </Stack>
        </>
      )}
    </Stack>
  );
}

/** Whether it is known by now what the values of some column are like. */
const haveStats = (columns: readonly Column[]) =>
  columns.some((column) => column.distinct !== null);

function titleOf({ measures }: Query): string {
  const label = measureLabel(measures[0] ?? "");
  return `${label.charAt(0).toUpperCase()}${label.slice(1)} over time`;
}

/** The top values of a column, each with its share of the events. */
function Facet({ column, events }: { column: Column; events: number }) {
  const { resolved, query, columns, views, zone, identifiers, commit, openMenu } = useExplore();
  const { data, error } = useAnswer(topValuesSpec(resolved, column.name, FACET_LOOK));
  const text = (value: Cell) => cellText(value, column.type, zone, identifiers.has(column.name));
  const more = (data?.rows.length ?? 0) - FACET_VALUES;
  return (
    <Paper withBorder p="sm" data-testid={`facet-${column.name}`}>
      <Group justify="space-between" mb={6} wrap="nowrap">
        <Text size="sm" fw={600} truncate title={column.name}>
          {column.name}
        </Text>
        <UnstyledButton
          fz="xs"
          c="blue"
          className="nowrap"
          onClick={() => commit(toggleGroup(query, column.name, views))}
        >
          Group by
        </UnstyledButton>
      </Group>
      {error && (
        <Text size="xs" c="dimmed">
          {error.body.detail}
        </Text>
      )}
      {!data && !error && <Skeleton h={120} />}
      {data?.rows.slice(0, FACET_VALUES).map(([value = null, events_of]) => (
        <FacetValue
          key={JSON.stringify(value)}
          text={text(value)}
          events={events_of ?? null}
          share={events > 0 ? (numberOf(events_of) ?? 0) / events : 0}
          onPick={(event) =>
            openMenu({
              label: `${column.name}: ${text(value)}`,
              picks: [pickOf(columns, column.name, value, column.type)],
              point: pointOf(event),
            })
          }
        />
      ))}
      {more > 0 && (
        <UnstyledButton
          fz="xs"
          c="blue"
          px={4}
          onClick={() => commit(withView({ ...query, group: [quoteName(column.name)] }, "table"))}
        >
          + {more > FACET_LOOK - 1 - FACET_VALUES ? "many" : more} more
        </UnstyledButton>
      )}
    </Paper>
  );
}

function FacetValue(props: {
  text: string;
  events: Cell;
  share: number;
  onPick: (event: React.MouseEvent) => void;
}) {
  const { text, events, share, onPick } = props;
  return (
    <UnstyledButton
      className="facet numbers"
      fz="xs"
      onClick={onPick}
      title={`${text}: ${exact(String(events))} events`}
    >
      <span className="bar" style={{ width: `${share * 100}%` }} />
      <span className="name">{text}</span>
      <span className="faint">{percent(share)}</span>
      <span>{short(numberOf(events) ?? 0)}</span>
    </UnstyledButton>
  );
}
