import { Text, UnstyledButton } from "@mantine/core";
import type { Answer } from "../../api/types";
import type { Result } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { facetMarks } from "./facetMarks";

/** What a facet's answer lacks, or why there is none, with a way to ask again. */
export function FacetNote(props: {
  result: Result;
  about: string;
  /** Whether the answer has a row for each value of the column. */
  ofValues?: boolean;
}) {
  const { result, about, ofValues = false } = props;
  const { table } = useExplore();
  const { error, isFetching } = result;
  // The rows that a part lacks are on their way.
  const answer: Answer | undefined = result.partial ? undefined : result.data;
  const marks = error
    ? [error.body.detail]
    : answer
      ? facetMarks(answer, table.waiting_rows, ofValues ? about : "")
      : [];
  const isWhole = !error && answer?.coverage.fraction === 1;
  if (marks.length === 0) return null;
  return (
    <Text size="xs" c={error ? "dimmed" : "var(--warn)"} mt={4} role="note" className="wrap">
      {marks.join(" ")}{" "}
      {!isWhole && (
        <UnstyledButton
          fz="xs"
          className="link"
          disabled={isFetching}
          aria-label={`Ask again for ${about}`}
          onClick={() => void result.refetch()}
        >
          Try again
        </UnstyledButton>
      )}
    </Text>
  );
}
