import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { Answer, Cell } from "../../api/types";
import { useExplore } from "../../explore/context";
import { withRange } from "../../query/time";
import { urlOf } from "../../query/url";
import { withView } from "../../query/viewManifest";
import { copyText } from "../../widgets/clipboard";
import { rowObject } from "./sampleTable";

/** Half of the time around a row whose rows are its context. */
const AROUND_MS = 30_000;

/** What can be done with a row as a whole: the rows around it, whatever is filtered; a link to it; its JSON. */
export function RowTools({ row, answer }: { row: Cell[]; answer: Answer }) {
  const { query, views, commit } = useExplore();
  const [copied, setCopied] = useState(false);
  const time = row[answer.columns.findIndex(({ type }) => type === "time")];
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  const around = () => {
    const range = { from: at - AROUND_MS, to: at + AROUND_MS };
    const all = { ...withRange(query, range), filters: [], search: "", where: "", refresh: "" };
    commit(withView(all, "samples"));
  };
  const copy = async () => {
    setCopied(await copyText(JSON.stringify(rowObject(row, answer), null, 2)));
  };
  const link = () => {
    const alone = { ...withRange(query, { from: at, to: at + 1 }), refresh: "" };
    const address = urlOf(withView(alone, "samples"), views);
    void copyText(`${window.location.origin}/${address}`, "Copied a link to this row");
  };
  return (
    <Group gap="xs" className="row-tools">
      {!Number.isNaN(at) && (
        <Button size="compact-xs" variant="default" onClick={around}>
          Rows around this one
        </Button>
      )}
      {!Number.isNaN(at) && (
        <Button size="compact-xs" variant="default" onClick={link}>
          Copy link
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy as JSON"}
      </Button>
    </Group>
  );
}
