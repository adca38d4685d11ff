import { Center, Group, Loader, Paper, Stack, Text, Title } from "@mantine/core";
import type { Cluster } from "../api/cluster";
import { spanWords } from "../base/duration";
import { bytes, counted, percent, short, visible } from "../base/format";
import { timeText, type Zone } from "../base/zone";
import { CoverageLine } from "../charts/coverage-line/CoverageLine";
import { AddMachine } from "../widgets/cluster/AddMachine";
import { GAP_MS, HISTORY_MS, type Moment, placeOf } from "../widgets/cluster/history";
import { MachineCard } from "../widgets/cluster/MachineCard";
import {
  countTones,
  healthOf,
  leafWords,
  leavesOf,
  missingOf,
  TONE_WORDS,
} from "../widgets/cluster/members";
import { Problems } from "../widgets/cluster/Problems";
import { ShareMatrix } from "../widgets/cluster/ShareMatrix";
import { ToneWords } from "../widgets/cluster/ToneWords";
import { ProblemCard } from "../widgets/ProblemCard";
import { RolloverPanel, useRecentRollover } from "./RolloverPanel";
import { useCluster } from "./useCluster";

/** With more leaves, each is a small square. */
const LARGE_LEAVES = 48;

/** The machines and leaves of the cluster, their states, and their rows; it follows them by itself. */
export default function ClusterPage(props: {
  zone: Zone;
  /** Opens a table. */
  onOpen: (table: string) => void;
}) {
  const { zone, onOpen } = props;
  const { data, error } = useCluster(true);
  return (
    <Stack maw={1400} mx="auto" gap="md">
      {error && <ProblemCard problem={error} />}
      {data ? (
        <Stack gap="md" className={error ? "stale" : "fresh"} data-testid="cluster">
          <ClusterBody {...data} zone={zone} onOpen={onOpen} />
        </Stack>
      ) : (
        !error && (
          <Center mih="60vh">
            <Loader size="sm" aria-label="Loading" />
          </Center>
        )
      )}
    </Stack>
  );
}

function ClusterBody(props: {
  cluster: Cluster;
  history: readonly Moment[];
  zone: Zone;
  onOpen: (table: string) => void;
}) {
  const { cluster, history, zone, onOpen } = props;
  const now = Date.parse(cluster.at);
  const isRolling = useRecentRollover(now);
  return (
    <>
      <Headline cluster={cluster} zone={zone} />
      <Problems problems={cluster.problems} tone={healthOf(cluster).tone} />
      <Coverage cluster={cluster} history={history} zone={zone} />
      {isRolling && <RolloverPanel zone={zone} />}
      <div className="machines">
        {cluster.machines.map((machine) => (
          <MachineCard
            key={machine.name}
            machine={machine}
            alone={cluster.cluster === null}
            now={now}
            history={history}
            dense={cluster.leaves > LARGE_LEAVES}
          />
        ))}
      </div>
      {cluster.tables.length > 0 && (
        <Paper withBorder p="sm" component="section" aria-label="Tables">
          <Title order={2} fz="sm" mb={6}>
            Where the rows are
          </Title>
          <ShareMatrix cluster={cluster} onOpen={onOpen} />
        </Paper>
      )}
      {!isRolling && cluster.cluster !== null && <RolloverPanel zone={zone} />}
      <AddMachine cluster={cluster} />
    </>
  );
}

function Headline({ cluster, zone }: { cluster: Cluster; zone: Zone }) {
  const { machines, leaves, rows_expected, used_bytes, free_bytes } = cluster;
  const name = cluster.cluster === null ? "One machine" : `Cluster ${visible(cluster.cluster)}`;
  const facts = [
    ...(cluster.cluster === null ? [] : [counted(machines.length, "machine")]),
    leafWords(leaves),
    `${short(rows_expected)} rows`,
    `${bytes(used_bytes)} of ${bytes(used_bytes + free_bytes)} in use`,
  ];
  return (
    <Group justify="space-between" align="baseline" gap={4}>
      <Group gap="sm" align="baseline">
        <Title order={1} fz={22} className="wrap">
          {name}
        </Title>
        <Text size="sm" c="dimmed" className="numbers">
          {facts.join(" · ")}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" className="numbers nowrap">
        {timeText(Date.parse(cluster.at), zone).slice(11)}
      </Text>
    </Group>
  );
}

const TICKS = [0, 1, 2, 3, 4].map((minutes) => ({
  x: 100 - ((minutes * 60_000) / HISTORY_MS) * 100,
  words: minutes === 0 ? "now" : `${minutes} min`,
}));

/** The share of the rows that answers have, now and over the last minutes. */
function Coverage(props: { cluster: Cluster; history: readonly Moment[]; zone: Zone }) {
  const { cluster, history, zone } = props;
  const now = history.at(-1)?.at ?? Date.parse(cluster.at);
  const points = history.map(({ at, coverage }) => ({ x: placeOf(at, now), coverage }));
  const lowest = Math.min(cluster.coverage, ...history.map((moment) => moment.coverage));
  const timeOf = (x: number) => {
    const ago = ((100 - x) / 100) * HISTORY_MS;
    return ago < 1000 ? "now" : `${spanWords(ago)} ago, ${timeText(now - ago, zone).slice(11)}`;
  };
  const missing = missingOf(cluster);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Coverage" className="coverage">
      <div>
        <Text size="xs" c="dimmed">
          Rows in answers
        </Text>
        <Text
          fz={30}
          fw={700}
          lh={1.2}
          className="numbers nowrap"
          c={missing > 0 ? "red" : undefined}
          data-testid="cluster-coverage"
        >
          {percent(cluster.coverage)}
        </Text>
        <Text size="xs" c="dimmed" className="numbers">
          {missing > 0 ? `${counted(missing, "row")} missing` : "nothing is missing"}
        </Text>
        <Group gap="xs" mt={8} fz="xs">
          {countTones(leavesOf(cluster)).map(([tone, leaves]) => (
            <ToneWords key={tone} tone={tone}>
              {leaves} {TONE_WORDS[tone]}
            </ToneWords>
          ))}
        </Group>
      </div>
      <CoverageLine
        points={points}
        gap={(GAP_MS / HISTORY_MS) * 100}
        ticks={TICKS}
        words={`Rows in answers over the last 5 minutes: now ${percent(cluster.coverage)}, at least ${percent(lowest)}`}
        timeOf={timeOf}
      />
    </Paper>
  );
}
