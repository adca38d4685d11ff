import { Group, Paper, SimpleGrid, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import { numberOf } from "../api/client";
import type { Cell, Column } from "../api/types";
import { exact, percent, short } from "../base/format";
import { toggleGroup } from "../query/edit";
import { samplesSpec, timeSpec, topValuesSpec } from "../query/spec";
import { weigh } from "../widgets/CoverageCorner";
import { useAnswer } from "./answers";
import { cellText } from "./CellText";
import { pointOf, useDive } from "./dive";
import { informative } from "./informative";
import { SampleRows } from "./SamplesView";
import { MeasureChart } from "./TimeView";
import { ViewFrame } from "./ViewFrame";

const FACETS = 6;
const FACET_VALUES = 6;
const SAMPLES = 12;

/** What a table is like at first sight: events over time, top values, a handful of rows. */
export function OverviewView() {
  const { asked, question, columns, commit } = useDive();
  const plain = { ...question, group: [], measures: ["count(*)"] };
  const overTime = useAnswer(timeSpec({ ...asked, question: plain }));
  const samples = useAnswer(samplesSpec(asked, SAMPLES));
  const events = overTime.data ? (weigh(overTime.data).events ?? 0) : 0;
  return (
    <Stack gap="lg">
      <ViewFrame title="Events over time" result={overTime} height={220}>
        {(answer) => <OverviewChart answer={answer} />}
      </ViewFrame>
      {overTime.data?.stats.rows_matched !== 0 && (
        <>
          <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="sm">
            {informative(columns, question, FACETS).map((column) => (
              <Facet key={column.name} column={column} events={events} />
            ))}
            {known(columns) ||
              ["first", "second", "third"].map((it) => <Skeleton key={it} h={170} />)}
          </SimpleGrid>
          <Stack gap={4}>
            <Group justify="space-between">
              <Text size="sm" fw={600} component="h2" m={0}>
                Newest rows
              </Text>
              <UnstyledButton
                fz="xs"
                c="blue"
                onClick={() => commit({ ...question, view: "samples" })}
              >
                All samples
              </UnstyledButton>
            </Group>
            {samples.data ? (
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
const known = (columns: readonly Column[]) => columns.some((column) => column.distinct !== null);

function OverviewChart({ answer }: { answer: Parameters<typeof MeasureChart>[0]["answer"] }) {
  const dive = useDive();
  const question = { ...dive.question, group: [], measures: ["count(*)"] };
  return <MeasureChart answer={answer} at={0} height={220} bare of={{ ...dive.asked, question }} />;
}

/** The top values of a column, each with its share of the events. */
function Facet({ column, events }: { column: Column; events: number }) {
  const { asked, question, zone, commit, openMenu } = useDive();
  const { data, error } = useAnswer(topValuesSpec(asked, column.name, FACET_VALUES));
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
          onClick={() => commit(toggleGroup(question, column.name))}
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
      {data?.rows.map(([value = null, events_of]) => (
        <FacetValue
          key={JSON.stringify(value)}
          text={cellText(value, column.type, zone)}
          events={events_of ?? null}
          share={events > 0 ? (numberOf(events_of) ?? 0) / events : 0}
          onPick={(event) =>
            openMenu({
              label: `${column.name}: ${cellText(value, column.type, zone)}`,
              picks: [{ column: column.name, value, type: column.type }],
              point: pointOf(event),
            })
          }
        />
      ))}
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
