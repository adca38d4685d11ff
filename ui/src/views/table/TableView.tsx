import { useMemo } from "react";
import type { QuerySpec } from "../../api/types";
import { useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { groupLabel } from "../../query/sql";
import { countRows } from "../../widgets/coverage/coverage";
import { BigNumbers } from "./BigNumbers";
import { GroupsTable } from "./GroupsTable";
import { totalsOf } from "./groups";
import { tableSpec } from "./spec";

/** Groups as rows, with a bar behind each number, and a total; without groups, the totals alone. */
export function TableView({ spec }: { spec: QuerySpec }) {
  const { resolved, query } = useExplore();
  const result = useAnswer(spec);
  const totals = useAnswer(tableSpec({ ...resolved, query: { ...query, group: [] } }));
  // The rows are of the shown groups; the answer rests on those of all groups.
  const all = totals.error ? result.data : totals.data;
  const isFetching = result.isFetching || totals.isFetching;
  // A part of the rows does not sum up to the total of all.
  const whole = useMemo(() => totalsOf(totals.data), [totals.data]);
  const total = result.partial ? null : whole;
  const title = query.group.length === 0 ? "Total" : `By ${query.group.map(groupLabel).join(", ")}`;
  return (
    <ViewFrame
      title={title}
      spec={spec}
      result={{ ...result, isFetching }}
      rowCounts={all ? countRows(all) : null}
      height={400}
    >
      {(answer) =>
        query.group.length === 0 ? (
          <BigNumbers totals={totalsOf(answer)} />
        ) : (
          <GroupsTable answer={answer} total={total} />
        )
      }
    </ViewFrame>
  );
}
