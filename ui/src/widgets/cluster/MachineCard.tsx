import { Anchor, Badge, Paper, Text } from "@mantine/core";
import { IconExternalLink, IconServer2 } from "@tabler/icons-react";
import type { ClusterMachine } from "../../api/cluster";
import { spanWords } from "../../base/duration";
import { short, visible } from "../../base/format";
import classes from "./Cluster.module.css";
import type { Moment } from "./history";
import { LeafCell } from "./LeafCell";
import { shortName, stateWords, toneOf } from "./members";
import { ToneWords } from "./ToneWords";

/** A machine: its aggregator, and its leaves as cells. */
export function MachineCard(props: {
  machine: ClusterMachine;
  /** The machine of a server without a cluster. */
  alone: boolean;
  now: number;
  history: readonly Moment[];
  /** Whether its leaves are small. */
  dense: boolean;
}) {
  const { machine, alone, now, history, dense } = props;
  const releases = new Set(
    [machine.aggregator, ...machine.leaves].flatMap((it) => it?.release ?? []),
  );
  const name = alone ? "This machine" : visible(machine.name);
  return (
    <Paper
      withBorder
      className={classes.machine}
      data-testid="machine"
      role="group"
      aria-label={name}
    >
      <div className={classes.head}>
        <IconServer2 size={17} className="faint" aria-hidden />
        <Text fw={700} className={classes.name} title={name}>
          {name}
        </Text>
        {machine.rack !== "" && (
          <Badge variant="default" size="sm" tt="none" title="Rack">
            {visible(machine.rack)}
          </Badge>
        )}
        <Link machine={machine} />
        <Text size="xs" c="dimmed" ml="auto" className="nowrap">
          {[...[...releases].map(visible), dense ? "" : upWords(machine, now)]
            .filter(Boolean)
            .join(" · ")}
        </Text>
      </div>
      {machine.aggregator && machine.aggregator.state !== "alive" && (
        <Text size="xs">
          <ToneWords tone={toneOf(machine.aggregator.state)}>
            aggregator {stateWords(machine.aggregator, now)}
          </ToneWords>
        </Text>
      )}
      <div className={classes.leaves} data-dense={dense}>
        {machine.leaves.map((leaf) => (
          <LeafCell
            key={leaf.name}
            leaf={leaf}
            name={shortName(machine, leaf.name)}
            now={now}
            history={history}
            dense={dense}
          />
        ))}
        {dense && (
          <Text size="xs" c="dimmed" ml="auto" className="numbers nowrap">
            {short(machine.leaves.reduce((all, leaf) => all + leaf.rows, 0))} rows
          </Text>
        )}
      </div>
      {machine.leaves.length === 0 && (
        <Text size="xs" c="dimmed">
          No leaves: it only asks others.
        </Text>
      )}
    </Paper>
  );
}

/** The way to the page of the machine. */
function Link({ machine }: { machine: ClusterMachine }) {
  const url = machine.aggregator?.url ?? "";
  if (!/^https?:\/\//.test(url)) return null;
  return (
    <Anchor href={`${url}/?page=cluster`} size="xs" target="_blank" rel="noreferrer">
      <span className={classes.words}>
        {visible(url.replace(/^https?:\/\//, ""))} <IconExternalLink size={12} aria-hidden />
      </span>
    </Anchor>
  );
}

function upWords({ aggregator, leaves }: ClusterMachine, now: number): string {
  const started = aggregator?.started ?? leaves.find((leaf) => leaf.started)?.started;
  return started ? `up ${spanWords(now - Date.parse(started))}` : "";
}
