import { Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { problemWords, type TableProblems } from "./tableProblems";

/** Marks a table whose rows were rejected, or read with a doubt, during the last day. */
export function ProblemMark({ problems }: { problems: TableProblems }) {
  const words = problemWords(problems);
  return (
    <Text
      span
      inherit
      c={problems.rejected > 0 ? "red" : "orange"}
      title={words}
      role="img"
      aria-label={words}
    >
      <IconAlertTriangle size={12} style={{ verticalAlign: "-2px" }} />{" "}
    </Text>
  );
}
