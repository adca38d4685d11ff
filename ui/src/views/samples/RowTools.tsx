import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { Answer, Cell } from "../../api/types";
import { useExplore } from "../../explore/context";
import { withRange } from "../../query/time";
import { withView } from "../../query/viewManifest";
import { copyText } from "../../widgets/clipboard";
import { rowObject } from "./sampleTable";

/** Half of the time around a row whose rows are its context. */
const AROUND_MS = 30_000;

/** What can be done with a row as a whole: the rows around it, whatever is filtered; and its JSON. */
export function RowTools({ row, answer }: { row: Cell[]; answer: Answer }) {
  const { query, commit } = useExplore();
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
  return (
    <Group gap="xs" className="row-tools">
      {!Number.isNaN(at) && (
        <Button size="compact-xs" variant="default" onClick={around}>
          Rows around this one
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy as JSON"}
      </Button>
    </Group>
  );
}
