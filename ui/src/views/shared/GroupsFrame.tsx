import type { ReactNode } from "react";
import type { QuerySpec } from "../../api/types";
import { useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { type Groups, groupsOf, rowCountsOf } from "./groups";

/** The frame of a view that draws the groups of a request that `groupsSpec` made. */
export function GroupsFrame(props: {
  spec: QuerySpec;
  title: ReactNode;
  height: number;
  tools?: ReactNode;
  children: (groups: Groups) => ReactNode;
}) {
  const { spec, title, height, tools, children } = props;
  const { query } = useExplore();
  const result = useAnswer(spec);
  const read = (answer: NonNullable<typeof result.data>) =>
    groupsOf(answer, query, spec.group_by?.length ?? 0, spec.limit ?? 0);
  const counts = result.data ? rowCountsOf(read(result.data)) : null;
  return (
    <ViewFrame
      title={title}
      spec={spec}
      result={result}
      height={height}
      tools={tools}
      {...(counts ? { rowCounts: counts } : {})}
    >
      {(answer) => children(read(answer))}
    </ViewFrame>
  );
}
