import { Code, Stack, Text } from "@mantine/core";
import type { ClusterLeaf, MemberProcess } from "../../api/cluster";
import { spanWords } from "../../base/duration";
import { bytes, count, counted, percent, visible } from "../../base/format";
import classes from "./Cluster.module.css";
import { missingOf, stateWords, toneOf } from "./members";
import { ToneWords } from "./ToneWords";

/** Tables of a leaf that are listed. */
const TABLES = 8;

/** A name and a value. */
type Fact = readonly [string, string];

/** What is known of a process: its release, and for how long it has run. */
export function processFacts(member: MemberProcess, now: number): Fact[] {
  const { since, release, started } = member;
  const span = (time: string) => spanWords(now - Date.parse(time));
  return [
    ...(since === null ? [] : [["In this state for", span(since)] as const]),
    ...(started === null ? [] : [["Started", `${span(started)} ago`] as const]),
    ...(release === null ? [] : [["Release", visible(release)] as const]),
  ];
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt className={classes.name}>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** All that is known of a leaf. */
export function LeafDetail({ leaf, now }: { leaf: ClusterLeaf; now: number }) {
  const missing = missingOf(leaf);
  const listed = leaf.tables.slice(0, TABLES);
  const others = leaf.tables.length - listed.length + leaf.tables_left_out;
  const facts: Fact[] = [
    ...processFacts(leaf, now),
    ["Rows in answers", count(leaf.rows)],
    ["Rows expected", count(leaf.rows_expected)],
    ...(missing > 0 ? [["Rows missing", count(missing)] as const] : []),
    ...(leaf.rows_waiting > 0 ? [["Rows being restored", count(leaf.rows_waiting)] as const] : []),
    ["Memory", `${bytes(leaf.used_bytes)} of ${bytes(leaf.used_bytes + leaf.free_bytes)}`],
  ];
  return (
    <Stack gap="xs" data-testid="leaf-detail">
      <div className={classes.line}>
        <Text fw={700} size="sm" className="wrap">
          {visible(leaf.name)}
        </Text>
        <Text size="xs" span>
          <ToneWords tone={toneOf(leaf.state)}>{stateWords(leaf, now)}</ToneWords>
        </Text>
      </div>
      <Facts facts={facts} />
      {listed.length > 0 && (
        <Facts
          facts={listed.map((share) => [
            visible(share.name),
            `${counted(share.rows_expected, "row")}, ${bytes(share.block_bytes)}${
              share.coverage < 1 ? `, ${percent(share.coverage)}` : ""
            }`,
          ])}
        />
      )}
      {others > 0 && (
        <Text size="xs" c="dimmed">
          and {counted(others, "other table")}
        </Text>
      )}
      {leaf.state === "silent" && missing > 0 && (
        <Text size="xs" c="dimmed">
          If it will not return, give up its rows: <Code>hadal forget {visible(leaf.name)}</Code>
        </Text>
      )}
    </Stack>
  );
}
