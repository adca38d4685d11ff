import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { visible } from "../../base/format";
import classes from "./Cluster.module.css";
import type { Health } from "./members";

/** Problems that are shown at first. */
const FIRST = 6;

/** What is wrong with the cluster, a line each. */
export function Problems({
  problems,
  tone,
}: {
  problems: readonly string[];
  tone: Health["tone"];
}) {
  const [all, { toggle }] = useDisclosure(false);
  if (problems.length === 0) return null;
  const more = problems.length - FIRST;
  return (
    <section aria-label="Problems" data-testid="problems">
      <ul
        className={`${classes.tone} ${classes.problems}`}
        data-tone={tone === "bad" ? "silent" : "stopping"}
      >
        {(all ? problems : problems.slice(0, FIRST)).map((problem) => (
          <li key={problem}>
            <IconAlertTriangle size={14} aria-hidden />
            <span>{visible(problem)}</span>
          </li>
        ))}
        {more > 0 && (
          <li>
            <Button size="compact-xs" variant="subtle" onClick={toggle}>
              {all ? "Show fewer" : `Show ${more} more`}
            </Button>
          </li>
        )}
      </ul>
    </section>
  );
}
