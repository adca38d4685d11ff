import { Button, Group } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { LIMIT_MAX } from "../../query/query";
import { SampleRows } from "./SampleRows";

/** Raw rows, newest first, with all their columns. */
export function SamplesView({ spec }: { spec: QuerySpec }) {
  const { query, commit } = useExplore();
  const result = useAnswer(spec);
  return (
    <ViewFrame title="Samples, newest first" spec={spec} result={result} height={500}>
      {(answer) => (
        <>
          <SampleRows answer={answer} />
          {answer.rows.length >= query.limit && query.limit < LIMIT_MAX && (
            <Group justify="center" mt="sm">
              <Button
                size="xs"
                variant="default"
                onClick={() => commit({ ...query, limit: Math.min(LIMIT_MAX, query.limit * 3) })}
              >
                More
              </Button>
            </Group>
          )}
        </>
      )}
    </ViewFrame>
  );
}
