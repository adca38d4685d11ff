// What a question asks of columns that are of another type: to be said, rather than answered anyhow.

import type { Column } from "../api/types";
import { filterText, typeOf } from "../query/filter";
import type { Question } from "../query/query";
import type { Unread } from "../query/url";
import { valueProblem } from "../widgets/filter/filterDraft";

const ORDERS: readonly string[] = ["<", "<=", ">", ">="];

/** The question without what does not fit the columns, and what that was. */
export function fitted(
  question: Question,
  columns: readonly Column[],
  now: number,
): { question: Question; unfit: readonly Unread[] } {
  const unfit: Unread[] = [];
  // Nothing equals a value of another type, which is an answer; but it has no place in an order.
  const filters = question.filters.filter((filter) => {
    const type = typeOf(columns, filter.column);
    const [value = ""] = filter.values;
    const ordered = ORDERS.includes(filter.operator) && type !== undefined;
    const problem = ordered ? valueProblem(value, type, now) : null;
    if (problem)
      unfit.push({ part: `filter=${filterText(filter)}`, why: `is left out: ${problem}` });
    return problem === null;
  });
  const { view, of } = question;
  const known = typeOf(columns, of) === "number" || of === "" || view !== "distribution";
  if (!known) unfit.push({ part: `of=${of}`, why: "is no column of numbers, another is shown" });
  if (unfit.length === 0) return { question, unfit };
  return { question: { ...question, filters, of: known ? of : "" }, unfit };
}
