import { Anchor, Text } from "@mantine/core";
import { type KeyboardEvent, useRef, useState } from "react";
import type { Cluster, ClusterTable } from "../../api/cluster";
import { bytes, count, counted, percent, short, visible } from "../../base/format";
import classes from "./Cluster.module.css";
import { missingOf, shortName } from "./members";
import { type LeafShare, type ShareRow, shareRows } from "./shares";

/** With more leaves, a cell has no room for words. */
const WORDY_LEAVES = 12;

/** Where the rows of each table are: a column for each leaf, a row for each table. */
export function ShareMatrix(props: { cluster: Cluster; onOpen: (table: string) => void }) {
  const { cluster, onOpen } = props;
  const rows = shareRows(cluster);
  const leaves = cluster.leaves;
  const [chosen, choose] = useState<readonly [number, number]>([0, 0]);
  const [shown, show] = useState(false);
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const row = clamp(chosen[0] + step[0], rows.length);
    const column = clamp(chosen[1] + step[1], leaves);
    choose([row, column]);
    body.current?.rows[row]?.querySelectorAll("td")[column]?.focus();
  };
  const row = rows[chosen[0]];
  return (
    <>
      <div className={classes.scroll}>
        <table className={classes.matrix}>
          <LeafHeads cluster={cluster} />
          <tbody ref={body} onKeyDown={move} onPointerLeave={() => show(false)}>
            {rows.map((it, at) => (
              <tr key={it.table.name}>
                <th scope="row">
                  <Anchor
                    component="button"
                    size="xs"
                    className={classes.tableName}
                    title={it.table.name}
                    onClick={() => onOpen(it.table.name)}
                  >
                    {visible(it.table.name)}
                  </Anchor>
                </th>
                {it.shares.map((share, column) => (
                  <ShareCell
                    // biome-ignore lint/suspicious/noArrayIndexKey: the column is the leaf
                    key={column}
                    share={share}
                    wordy={leaves <= WORDY_LEAVES}
                    chosen={chosen[0] === at && chosen[1] === column}
                    onChoose={() => {
                      choose([at, column]);
                      show(true);
                    }}
                  />
                ))}
                <Sums table={it.table} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className={classes.detail} aria-live="polite">
        {shown && row ? shareWords(row, chosen[1]) : restWords(cluster)}
      </div>
    </>
  );
}

const STEPS: Record<string, readonly [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

const clamp = (index: number, length: number) => Math.min(Math.max(index, 0), length - 1);

/** The names of machines, and of their leaves where there is room. */
function LeafHeads({ cluster }: { cluster: Cluster }) {
  const alone = cluster.cluster === null;
  return (
    <thead>
      {!alone && (
        <tr>
          <td />
          {cluster.machines.map((machine) =>
            machine.leaves.length === 0 ? null : (
              <th key={machine.name} scope="colgroup" colSpan={machine.leaves.length}>
                {visible(machine.name)}
              </th>
            ),
          )}
        </tr>
      )}
      <tr hidden={cluster.leaves > WORDY_LEAVES}>
        <td />
        {cluster.machines.flatMap((machine) =>
          machine.leaves.map((leaf) => (
            <th key={leaf.name} scope="col">
              {visible(shortName(machine, leaf.name))}
            </th>
          )),
        )}
        <th scope="col" className={`${classes.sum} wide-only`}>
          rows
        </th>
        <th scope="col" className={`${classes.sum} wide-only`}>
          bytes
        </th>
        <th scope="col" className={classes.sum}>
          coverage
        </th>
      </tr>
    </thead>
  );
}

function ShareCell(props: {
  share: LeafShare | null;
  wordy: boolean;
  chosen: boolean;
  onChoose: () => void;
}) {
  const { share, wordy, chosen, onChoose } = props;
  const strength = share?.strength ?? 0;
  return (
    <td
      className={classes.cell}
      style={{ "--strength": `${Math.round(strength * 60)}%` } as React.CSSProperties}
      data-missing={share !== null && missingOf(share) > 0}
      data-empty={share === null}
      tabIndex={chosen ? 0 : -1}
      onFocus={onChoose}
      onPointerEnter={onChoose}
    >
      {wordy && fractionWords(share)}
    </td>
  );
}

/** A share for a small cell; what is there is not rounded away. */
function fractionWords(share: LeafShare | null): string {
  if (!share) return "–";
  const percents = Math.round(share.fraction * 100);
  return percents === 0 ? "<1 %" : `${percents} %`;
}

function Sums({ table }: { table: ClusterTable }) {
  const missing = missingOf(table) > 0;
  return (
    <>
      <td className={`${classes.sum} wide-only`} title={counted(table.rows_expected, "row")}>
        {short(table.rows_expected)}
      </td>
      <td className={`${classes.sum} wide-only`}>{bytes(table.block_bytes)}</td>
      <td className={`${classes.sum} ${missing ? classes.missing : ""}`}>
        {percent(table.coverage)}
      </td>
    </>
  );
}

function shareWords({ table, shares }: ShareRow, column: number): string {
  const share = shares[column];
  if (!share) return `No rows of ${visible(table.name)} are expected here.`;
  const missing = missingOf(share);
  const rest = missing > 0 ? `${count(missing)} of them missing` : bytes(share.block_bytes);
  return (
    `${visible(table.name)} on ${visible(share.leaf)}: ${counted(share.rows_expected, "row")}, ` +
    `${percent(share.fraction)} of the table, ${rest}`
  );
}

function restWords({ tables_left_out: others }: Cluster) {
  return (
    <Text size="xs" span>
      {others > 0
        ? `The tables with most rows; ${counted(others, "other")} ${others === 1 ? "is" : "are"} not listed.`
        : "Point at a cell, or move with the arrow keys."}
    </Text>
  );
}
