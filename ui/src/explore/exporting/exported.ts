import type { RefObject } from "react";
import type { Answer, QuerySpec } from "../../api/types";

/** What can be saved or copied: an answer, the query that it answers, and the picture of it. */
export interface Exported {
  readonly spec: QuerySpec;
  readonly answer: Answer;
  /** Whether the answer is what is drawn: otherwise only the picture can be saved. */
  readonly hasData: boolean;
  /** Whether a newer answer is on its way. */
  readonly busy: boolean;
  /** The element with the title of the view and its fields. */
  readonly heading: RefObject<HTMLElement | null>;
  readonly picture: RefObject<HTMLElement | null>;
}
