import { Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ClusterLeaf } from "../../api/cluster";
import { bytes, counted, percent, short, visible } from "../../base/format";
import classes from "./Cluster.module.css";
import { type Moment, restartsOf, stretchesOf } from "./history";
import { LeafDetail } from "./LeafDetail";
import { missingOf, progressOf, stateWords, toneOf } from "./members";
import { ToneIcon, ToneWords } from "./ToneWords";

/** A leaf is nearly full from this share of its memory on. */
const NEARLY = 0.9;

interface LeafProps {
  leaf: ClusterLeaf;
  /** Its name among those of its machine. */
  name: string;
  /** By the server's clock. */
  now: number;
  history: readonly Moment[];
}

/** A leaf as a cell in the colour of its state; a click opens all that is known of it. */
export function LeafCell(props: LeafProps & { dense: boolean }) {
  const { leaf, name, now, history, dense } = props;
  const [opened, popover] = useDisclosure(false);
  const tone = toneOf(leaf.state);
  const words = `${visible(name)}: ${stateWords(leaf, now)}, ${counted(leaf.rows, "row")}`;
  return (
    <Popover
      opened={opened}
      onChange={(open) => (open ? popover.open() : popover.close())}
      width={320}
      shadow="md"
      withArrow
      returnFocus
      trapFocus
    >
      <Popover.Target>
        <button
          type="button"
          className={`${classes.tone} ${classes.leaf}`}
          data-tone={tone}
          data-testid="leaf"
          aria-label={words}
          data-mark
          aria-expanded={opened}
          title={dense ? words : undefined}
          onClick={popover.toggle}
        >
          {dense ? <ToneIcon tone={tone} size={15} /> : <LeafFace {...props} />}
          {!dense && <Past history={history} leaf={leaf.name} />}
        </button>
      </Popover.Target>
      <Popover.Dropdown>
        <LeafDetail leaf={leaf} now={now} />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Name, state, rows and memory. */
function LeafFace({ leaf, name, now }: LeafProps) {
  const progress = progressOf(leaf);
  const missing = missingOf(leaf);
  const size = leaf.used_bytes + leaf.free_bytes;
  const used = size > 0 ? leaf.used_bytes / size : 0;
  const silent = leaf.state === "silent";
  return (
    <>
      <span className={classes.line}>
        <b className={classes.name} title={visible(name)}>
          {visible(name)}
        </b>
        <ToneWords tone={toneOf(leaf.state)}>{stateWords(leaf, now)}</ToneWords>
      </span>
      <span className={`${classes.line} numbers`}>
        <span className={silent ? classes.missing : ""}>
          {silent ? `${short(missing)} rows missing` : `${short(leaf.rows)} rows`}
        </span>
        {!silent && (
          <span
            className="faint nowrap"
            title={`${bytes(leaf.used_bytes)} of ${bytes(size)} in use`}
          >
            {bytes(leaf.used_bytes)} · {percent(used)}
          </span>
        )}
      </span>
      {progress === null ? (
        <span className={classes.bar} data-kind="memory">
          <Filled share={used} full={used >= NEARLY} />
        </span>
      ) : (
        <span className={classes.bar} data-kind="progress">
          <Filled share={progress} />
        </span>
      )}
    </>
  );
}

function Filled({ share, full = false }: { share: number; full?: boolean }) {
  return <span style={{ width: `${Math.min(1, share) * 100}%` }} data-full={full} />;
}

/** The states of the last minutes, and a mark where it was started again. */
function Past({ history, leaf }: { history: readonly Moment[]; leaf: string }) {
  return (
    <span className={classes.past} aria-hidden>
      {stretchesOf(history, leaf).map(({ tone, from, width }) => (
        <span
          key={from}
          className={classes.tone}
          data-tone={tone}
          style={{ left: `${from}%`, width: `${width}%` }}
        />
      ))}
      {restartsOf(history, leaf).map((x) => (
        <span
          key={`restart ${x}`}
          className={classes.restart}
          data-testid="restart"
          style={{ left: `${x}%` }}
        />
      ))}
    </span>
  );
}
