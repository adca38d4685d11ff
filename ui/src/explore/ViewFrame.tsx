import { Alert, Box, Button, Group, Progress, Skeleton, Stack, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { type ReactNode, useContext, useEffect, useRef } from "react";
import { ask } from "../api/client";
import type { Answer, QuerySpec } from "../api/types";
import { timeText } from "../base/zone";
import { FULL_RANGE } from "../query/time";
import { CoverageCorner } from "../widgets/coverage/CoverageCorner";
import { countRows, missingWords, type RowCounts } from "../widgets/coverage/coverage";
import { ProgressCorner } from "../widgets/coverage/ProgressCorner";
import { ProblemCard } from "../widgets/ProblemCard";
import { AnswerSourceContext, drawnAs, type Result } from "./answers";
import { compareGapWords } from "./compareRange";
import { useExplore } from "./context";
import { ExportMenu } from "./ExportMenu";
import { useAsMain } from "./mainSpec";

/**
 * Around every view: its title and the corner, the loading, empty and error states. The old answer
 * stays, dimmed, until the new one is there.
 */
export function ViewFrame(props: {
  title: ReactNode;
  /** The main query of the view, and its answer. */
  spec: QuerySpec;
  result: Result;
  /** What the answer rests on, where it does not say so itself; null while that is not known. */
  rowCounts?: RowCounts | null;
  /** Drawn while there is nothing yet, in pixels. */
  height: number;
  tools?: ReactNode;
  /** Whether the answer is what is drawn, so that it can be exported; true by default. */
  hasData?: boolean;
  children: (answer: Answer) => ReactNode;
}) {
  const { title, spec, result, height, tools, hasData = true, children } = props;
  const { table, loadStats, chartHeight } = useExplore();
  // A tile of a dashboard has no room for tools, and a menu of its own.
  const isTile = chartHeight !== undefined;
  // A frozen answer is exported as a picture: a file would have the rows of now.
  const isAsked = useContext(AnswerSourceContext) === ask;
  useAsMain(spec);
  // Statistics wait until the view has its answer.
  const answered = result.error !== null || (result.data && !result.isPlaceholderData) === true;
  useEffect(() => {
    if (answered) loadStats();
  }, [answered, loadStats]);
  const { partial, progress } = result;
  const answer = partial ?? result.data;
  const rowCounts = props.rowCounts === undefined && answer ? countRows(answer) : props.rowCounts;
  const stale = result.isPlaceholderData && !partial;
  const heading = useRef<HTMLDivElement>(null);
  const drawn = useRef<HTMLDivElement>(null);
  // An opened menu stays while the same question is asked again.
  const isWhole = answer && !partial && !result.error;
  const complete = isWhole && !progress && result.staleSince === null;
  return (
    <Stack gap="xs" data-testid="view" data-busy={result.isFetching}>
      <Group justify="space-between" align="center" gap="xs" className="view-head">
        <Group gap="sm" ref={heading}>
          <Text size="sm" fw={600} component="h2" m={0}>
            {title}
          </Text>
          {!isTile && tools}
        </Group>
        <Group gap="sm">
          {progress && <ProgressCorner progress={progress} partial={partial !== null} />}
          {complete && rowCounts && (
            <CoverageCorner
              answer={answer}
              rowCounts={rowCounts}
              table={table}
              busy={result.isFetching}
            />
          )}
          {!isTile && isWhole && answer.stats.rows_matched > 0 && (
            <ExportMenu
              {...{ spec, answer, heading }}
              busy={!complete}
              hasData={hasData && isAsked}
              picture={drawn}
            />
          )}
        </Group>
      </Group>
      {result.staleSince !== null && (
        <StaleAnswer since={result.staleSince} onRetry={() => void result.refetch()} />
      )}
      {result.error ? (
        <ProblemCard problem={result.error} onRetry={() => void result.refetch()} />
      ) : answer ? (
        <Box ref={drawn} className={drawnAs(result)} aria-busy={stale || partial !== null}>
          {!partial && <Notes answer={answer} />}
          {spec.compare && <CompareNote />}
          {answer.stats.rows_matched === 0 ? <NothingHere /> : children(answer)}
        </Box>
      ) : (
        <Skeleton h={height} radius="sm" aria-label="Loading" />
      )}
    </Stack>
  );
}

/** Above an old answer, while the server does not respond. */
function StaleAnswer({ since, onRetry }: { since: number; onRetry: () => void }) {
  const { zone } = useExplore();
  return (
    <Alert
      color="gray"
      py="xs"
      role="alert"
      icon={<IconPlugConnectedX />}
      title={`No answer since ${timeText(since, zone).slice(11)}`}
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm">The answer shown is from that time. The page keeps trying.</Text>
        <Button size="compact-xs" variant="default" onClick={onRetry}>
          Retry now
        </Button>
      </Group>
    </Alert>
  );
}

/** A wide table may have a note on every column. */
const MOST_NOTES = 5;

/** What an answer says of itself: rows that are missing, and warnings. */
function Notes({ answer }: { answer: Answer }) {
  const { waiting_rows: waiting } = useExplore().table;
  const missing = missingWords(answer.coverage, waiting);
  const share = answer.coverage.fraction * 100;
  // The page asks for intervals by itself; where one is missing, none is drawn.
  const warnings = answer.warnings.filter(({ code }) => code !== "interval_too_few");
  const more = warnings.length - MOST_NOTES;
  return (
    <>
      {missing && (
        <Alert variant="outline" color="orange" py="xs" mb="xs" role="alert" title="Incomplete">
          {missing}
          {waiting > 0 && (
            <Progress mt="xs" size="sm" color="orange" value={share} aria-label="Restored rows" />
          )}
        </Alert>
      )}
      {warnings.slice(0, MOST_NOTES).map((warning) => (
        <Text
          key={`${warning.code} ${warning.subject}`}
          size="xs"
          c="var(--warn)"
          mb={4}
          role="note"
        >
          {warning.message}
        </Text>
      ))}
      {more > 0 && (
        <Text size="xs" c="var(--warn)" mb={4} role="note">
          … and {more} more such notes
        </Text>
      )}
    </>
  );
}

/** Where the table's rows do not reach back as far as they are compared with. */
function CompareNote() {
  const { resolved, table, zone } = useExplore();
  const words = compareGapWords(resolved, table, zone);
  if (words === null) return null;
  return (
    <Text size="xs" c="var(--warn)" mb={4} role="note">
      {words}
    </Text>
  );
}

/** Instead of an empty chart: why, and the ways out. */
function NothingHere() {
  const { query, table, zone, commit } = useExplore();
  const { first_time: first, last_time: last } = table;
  const filtered = query.filters.length > 0 || query.search !== "" || query.where !== "";
  return (
    <Stack align="center" gap="sm" py={48} data-testid="empty">
      <Text fw={600}>No rows here</Text>
      {first !== null && last !== null && (
        <Text size="sm" c="dimmed" ta="center">
          {table.name} has rows from {timeText(Date.parse(first), zone)} to{" "}
          {timeText(Date.parse(last), zone)}.
        </Text>
      )}
      <Group>
        {first !== null && (
          <Button size="xs" onClick={() => commit({ ...query, ...FULL_RANGE, bucket: "auto" })}>
            Go to the data
          </Button>
        )}
        {filtered && (
          <Button
            size="xs"
            variant="default"
            onClick={() => commit({ ...query, filters: [], search: "", where: "" })}
          >
            Clear filters
          </Button>
        )}
      </Group>
    </Stack>
  );
}
