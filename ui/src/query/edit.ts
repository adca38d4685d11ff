// What a click does to the question: each edit gives a new one.

import type { Cell, Type } from "../api/types";
import { type Filter, filterOf, filterText } from "./filter";
import type { Question } from "./question";
import { columnOf, quoteName } from "./sql";

/** A value of a column that was clicked: of a group, a cell, a legend entry. */
export interface Pick {
  readonly column: string;
  readonly value: Cell;
  readonly type: Type;
}

/** With one more filter; the same again changes nothing, `=` on the same column takes its place. */
export function withFilter(question: Question, filter: Filter): Question {
  const text = filterText(filter);
  if (question.filters.some((it) => filterText(it) === text)) return question;
  const replaced = (it: Filter) =>
    it.column === filter.column && it.operator === "=" && filter.operator === "=";
  const others = question.filters.filter((it) => !replaced(it));
  return { ...question, filters: [...others, filter] };
}

/** Only the rows that have all of these values. */
export function only(question: Question, picks: readonly Pick[]): Question {
  const filters = picks.map(({ column, value, type }) => filterOf(column, value, type));
  return filters.reduce(withFilter, question);
}

/** Without the rows that have this value. */
export function exclude(question: Question, pick: Pick): Question {
  return withFilter(question, filterOf(pick.column, pick.value, pick.type, true));
}

/** Grouped by a column as well, or no longer. */
export function toggleGroup(question: Question, column: string): Question {
  const name = quoteName(column);
  const has = question.group.some((it) => (columnOf(it) ?? it) === column);
  const group = has
    ? question.group.filter((it) => (columnOf(it) ?? it) !== column)
    : [...question.group, name];
  // What is grouped is looked at as groups.
  const view =
    has || question.view === "time" || question.view === "table" ? question.view : "time";
  return { ...question, group, view };
}

/** The raw rows behind a value. */
export function samplesOf(question: Question, picks: readonly Pick[]): Question {
  return { ...only(question, picks), view: "samples" };
}

/** Without the filter at a place. */
export function withoutFilter(question: Question, place: number): Question {
  return { ...question, filters: question.filters.filter((_, at) => at !== place) };
}

/** With another filter in the place of one. */
export function replaceFilter(question: Question, place: number, filter: Filter): Question {
  return { ...question, filters: question.filters.map((it, at) => (at === place ? filter : it)) };
}
