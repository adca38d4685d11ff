// What a small answer has to say of itself, where there is no room for the corner of a view.

import type { Answer } from "../../api/types";
import { counted, percent, visible } from "../../base/format";
import { missingWords } from "../../widgets/coverage/coverage";

/**
 * Sentences on rows that an answer lacks, and on values of another kind: of the column whose values
 * `values` draws, they are counted as none.
 */
export function facetMarks(answer: Answer, waiting: number, values = ""): string[] {
  const { coverage, warnings = [] } = answer;
  const incomplete =
    missingWords(coverage, waiting) ??
    (coverage.fraction < 1 ? `From ${percent(coverage.fraction)} of the rows.` : null);
  const otherKind = warnings.filter(({ code }) => code === "other_kind_skipped");
  const sentence = (text: string) => `${text.replace(/\.$/, "")}.`;
  return [
    ...(incomplete === null ? [] : [incomplete]),
    ...otherKind.map(({ subject, count, message }) =>
      subject === values
        ? `(none) counts ${counted(count, "row")} with ${visible(subject)} of another kind.`
        : sentence(message),
    ),
  ];
}
