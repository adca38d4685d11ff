import { Code, Group, Paper, Text, Title } from "@mantine/core";
import type { Rollover, RolloverMoment } from "../api/rollover";
import { spanWords } from "../base/duration";
import { percent, visible } from "../base/format";
import { timeText, type Zone } from "../base/zone";
import { CoverageLine } from "../charts/coverage-line/CoverageLine";
import { RolloverChart } from "../charts/rollover/RolloverChart";
import { ProblemCard } from "../widgets/ProblemCard";
import { RolloverButton } from "../widgets/rollover/RolloverButton";
import { StageCount } from "../widgets/rollover/StageCount";
import {
  hasEnded,
  leavesOf,
  phaseWords,
  resumeLine,
  rollingWords,
} from "../widgets/rollover/words";
import { useRollover, useRolloverActions } from "./useRollover";

/** A rollover that ended longer ago is history. */
const RECENT_MS = 600_000;

/** Whether there is a rollover that people want to see first. */
export function useRecentRollover(now: number): boolean {
  const { data } = useRollover();
  return !!data && (!hasEnded(data) || now - Date.parse(data.at) < RECENT_MS);
}

/** Restarts of all leaves in turn: how one is begun, how far it is, and how it went. */
export function RolloverPanel({ zone }: { zone: Zone }) {
  const { data: rollover } = useRollover();
  const { begin, stop } = useRolloverActions();
  const problem = begin.error ?? stop.error;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Rollover" data-testid="rollover">
      <Group justify="space-between" mb={6} wrap="nowrap" align="flex-start">
        <Title order={2} fz="sm">
          Rollover
        </Title>
        {rollover && !hasEnded(rollover) ? (
          <RolloverButton
            key="stop"
            label="Stop"
            confirm="Stop the rollover"
            colour="red"
            busy={stop.isPending}
            onConfirm={() => stop.mutate()}
          >
            No more leaves are restarted. It ends when those that are restarting are back, and can
            be continued later.
          </RolloverButton>
        ) : (
          <RolloverButton
            key="begin"
            label="Restart all leaves"
            confirm="Begin the rollover"
            busy={begin.isPending}
            onConfirm={() => begin.mutate(null)}
          >
            2 % of the leaves restart at a time, at least one, and never two of one machine. Their
            rows are missing in answers until they are back, usually for a few seconds.
          </RolloverButton>
        )}
      </Group>
      {problem && <ProblemCard problem={problem} />}
      {rollover ? <Dashboard rollover={rollover} zone={zone} /> : <Nothing />}
    </Paper>
  );
}

function Nothing() {
  return (
    <Text size="xs" c="dimmed">
      There was none yet. A rollover restarts all leaves in turn, with the program that is in place
      on their machines, and keeps nearly all rows in answers. In a terminal:{" "}
      <Code>hadal rollover</Code>
    </Text>
  );
}

/** The moments as shares of the whole time, from 0 to 100. */
function placed(history: readonly RolloverMoment[], { begun, at }: Rollover) {
  const start = Date.parse(begun);
  const whole = Math.max(1, Date.parse(at) - start);
  return history.map((moment) => {
    const x = ((Date.parse(moment.at) - start) / whole) * 100;
    return { x: Math.min(100, Math.max(0, x)), moment };
  });
}

/** The times of the quarters, in milliseconds; of a short rollover not all differ. */
function ticksOf(whole: number) {
  const all = [25, 50, 75, 100].map((x) => ({ x, words: spanWords((x / 100) * whole) }));
  return all.filter((tick, index) => tick.words !== all[index + 1]?.words);
}

function Dashboard({ rollover, zone }: { rollover: Rollover; zone: Zone }) {
  const { begun, at, old, rolling, reason, history } = rollover;
  const moments = placed(history, rollover);
  const { coverage } = rollover;
  const now = { at, old, rolling: rolling.length, new: rollover.new, coverage };
  const points = [...moments, { x: 100, moment: now }];
  const lowest = Math.min(1, ...history.map(({ coverage }) => coverage));
  const [from, whole] = [Date.parse(begun), Date.parse(at) - Date.parse(begun)];
  const timeOf = (x: number) => {
    const since = (x / 100) * whole;
    return `after ${spanWords(since)}, ${timeText(from + since, zone).slice(11)}`;
  };
  const leaves = leavesOf(rollover);
  return (
    <div className="coverage">
      <div>
        <Text fz={30} fw={700} lh={1.2} className="numbers nowrap" data-testid="rollover-new">
          {rollover.new} of {leaves}
        </Text>
        <Text size="xs" c="dimmed">
          leaves are new
        </Text>
        <Text size="xs" c={rollover.phase === "stopped" ? "red" : "dimmed"} className="numbers">
          {phaseWords(rollover)}
        </Text>
        <Group gap="xs" mt={8} fz="xs">
          <StageCount stage="old" count={old} />
          <StageCount stage="rolling" count={rolling.length} />
          <StageCount stage="new" count={rollover.new} />
        </Group>
        <Text size="xs" c="dimmed" mt={8} className="numbers wrap">
          {rolling.map((leaf) => rollingWords(leaf, at)).join(", ")}
        </Text>
        {reason !== null && (
          <Text size="xs" c="var(--bad)" mt={8} className="wrap" data-testid="rollover-reason">
            {visible(reason)}
          </Text>
        )}
        {rollover.phase === "stopped" && (
          <Text size="xs" c="dimmed" mt={8}>
            To continue: <Code className="wrap">{resumeLine(rollover)}</Code>
          </Text>
        )}
      </div>
      <div>
        <RolloverChart
          points={points.map(({ x, moment }) => ({
            x,
            counts: [moment.old, moment.rolling, moment.new],
          }))}
          words={`Leaves over time: ${old} old, ${rolling.length} rolling, ${rollover.new} new`}
        />
        <CoverageLine
          points={points.map(({ x, moment }) => ({ x, coverage: moment.coverage }))}
          gap={100}
          ticks={ticksOf(whole)}
          words={`Rows in answers during the rollover: at least ${percent(lowest)}`}
          timeOf={timeOf}
        />
      </div>
    </div>
  );
}
