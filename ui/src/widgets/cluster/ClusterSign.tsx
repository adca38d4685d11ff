import { ActionIcon, Button } from "@mantine/core";
import { IconAlertTriangle, IconServer2 } from "@tabler/icons-react";
import { memo } from "react";
import type { Cluster } from "../../api/cluster";
import { visible } from "../../base/format";
import classes from "./Cluster.module.css";
import { healthOf } from "./members";

const COLOURS = { good: "gray", notice: "yellow", bad: "red" } as const;

/** The state of the cluster in the head of the page: a quiet icon, or what is wrong in a few words. */
export const ClusterSign = memo(function ClusterSign(props: {
  /** Undefined as long as nothing is known. */
  cluster: Cluster | undefined;
  /** Whether the cluster is what the page shows. */
  on: boolean;
  onOpen: () => void;
}) {
  const { cluster, on, onOpen } = props;
  const health = cluster && healthOf(cluster);
  const label = `Cluster${health ? `: ${visible(health.sentence)}` : ""}`;
  return health && health.words !== "" ? (
    <Button
      size="compact-sm"
      variant={on ? "filled" : "light"}
      color={COLOURS[health.tone]}
      aria-label={label}
      data-hint={label}
      data-testid="cluster-sign"
      onClick={onOpen}
    >
      <IconAlertTriangle size={14} aria-hidden />
      <span className={on ? classes.signWords : `${classes.signWords} wide-only`}>
        {health.words}
      </span>
    </Button>
  ) : (
    <ActionIcon
      variant={on ? "light" : "subtle"}
      color={on ? "teal" : "gray"}
      aria-label={label}
      aria-pressed={on}
      data-hint={label}
      data-testid="cluster-sign"
      onClick={onOpen}
    >
      <IconServer2 size={17} />
    </ActionIcon>
  );
});
