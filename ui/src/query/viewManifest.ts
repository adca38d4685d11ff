// A view's description of itself. Code outside of the view's folder knows the view only by its
// manifest.

import type { ComponentType } from "react";
import type { Answer, Column, QuerySpec, Type } from "../api/types";
import { typeOf } from "./filter";
import type { Query } from "./query";
import type { ResolvedQuery } from "./spec";

/** A part of the address that has no effect, and why. */
export interface IgnoredPart {
  readonly part: string;
  readonly why: string;
}

/** A part of the shared query that only some views draw. */
export type SharedPart = "groups" | "measures" | "comparison";

/** A change of the query with which a view can show it. */
export interface Repair {
  /** What a button says: `Group by service`. */
  readonly label: string;
  readonly query: Query;
}

/** The first request of a view; or a sentence that says why it cannot show these columns. */
export type ViewPlan =
  | { readonly spec: QuerySpec }
  | { readonly misfit: string; readonly repairs?: readonly Repair[] };

/** One option of a view, and its key in the address. */
export interface ViewOption<Value = unknown> {
  /** Unique among all views, and for ever: links outlive versions. */
  readonly key: string;
  readonly default: Value;
  /** The value of a text of the address; null if the text is invalid. */
  parse(text: string): Value | null;
  text(value: Value): string;
  /** Why a text is invalid: `is no whole number`. */
  readonly invalid: string;
  /** Present if the value is the name of a column: the types that it may have. */
  readonly columnTypes?: readonly Type[];
}

/** Asks a query, unless it was asked before; resolves to its answer. */
export type Answers = (spec: QuerySpec) => Promise<Answer>;

export interface ViewManifest {
  /** The value of `view` in the address. */
  readonly kind: string;
  readonly name: string;
  readonly icon: ComponentType<{ size?: number }>;
  readonly options: readonly ViewOption[];
  readonly shows: readonly SharedPart[];
  /** The option that is a text of SQL, in which a dashboard fills its variables. */
  readonly sqlOption?: ViewOption<string>;
  /** Whether it stands beside the row of views, whatever the query is. */
  readonly apart?: true;
  plan(resolved: ResolvedQuery): ViewPlan;
  /** Asks for what else the view draws at first, before it is drawn. */
  askFirst?(resolved: ResolvedQuery, answer: Answers): Promise<void>;
  /** Whether a query that the view can show asks for it more than for most other views. */
  suggests?(resolved: ResolvedQuery): boolean;
  /** Makes the query fit the columns, and says what of it had to be ignored. */
  repair?(
    query: Query,
    columns: readonly Column[],
  ): { query: Query; ignored: readonly IgnoredPart[] };
  /** Draws the answer; `spec` is the request of the plan. */
  readonly component: ComponentType<{ spec: QuerySpec }>;
}

/** An option whose value is any text. */
export function textOption(key: string): ViewOption<string> {
  return { key, default: "", parse: (text) => text, text: (value) => value, invalid: "" };
}

/** An option that names a column of one of these types; empty: the view chooses. */
export function columnOption(key: string, columnTypes: readonly Type[]): ViewOption<string> {
  return { ...textOption(key), columnTypes };
}

/** The value of an option, also while another view is shown. */
export function optionOf<Value>(query: Query, option: ViewOption<Value>): Value {
  const text = query.view.options[option.key];
  return (text === undefined ? null : option.parse(text)) ?? option.default;
}

/** The query with another value of an option. Defaults are left out. */
export function withOption<Value>(query: Query, option: ViewOption<Value>, value: Value): Query {
  const options = { ...query.view.options } as Record<string, string>;
  delete options[option.key];
  const text = option.text(value);
  if (text !== option.text(option.default)) options[option.key] = text;
  return { ...query, view: { ...query.view, options } };
}

/** The query with another text of SQL in each view that has one. */
export function withSql(
  query: Query,
  views: readonly ViewManifest[],
  change: (sql: string) => string,
): Query {
  return views.reduce((it, { sqlOption: option }) => {
    const sql = option ? optionOf(it, option) : "";
    const next = change(sql);
    return option && next !== sql ? withOption(it, option, next) : it;
  }, query);
}

/** The query in another view. Every view keeps its options. */
export function withView(query: Query, kind: string): Query {
  return { ...query, view: { ...query.view, kind } };
}

/** The query in its view if that draws a part of it, otherwise in the first view that does. */
export function viewShowing(query: Query, views: readonly ViewManifest[], part: SharedPart): Query {
  const showing = views.filter(({ shows }) => shows.includes(part));
  if (showing.some(({ kind }) => kind === query.view.kind)) return query;
  return showing[0] ? withView(query, showing[0].kind) : query;
}

/** The query in a view that shows one column. */
export function viewOfColumn(query: Query, view: ViewManifest, column: string): Query {
  const option = view.options.find((it) => it.columnTypes);
  return withView(option ? withOption(query, option, column) : query, view.kind);
}

/** The columns that the options of any view name. */
export function optionColumns(query: Query, views: readonly ViewManifest[]): string[] {
  const options = views.flatMap((view) => view.options).filter((it) => it.columnTypes);
  return options.map(({ key }) => query.view.options[key] ?? "").filter((it) => it !== "");
}

/** The query without a column option whose column does not exist or has another type. */
export function withoutMisfit(
  query: Query,
  option: ViewOption<string>,
  columns: readonly Column[],
  why: string,
): { query: Query; ignored: readonly IgnoredPart[] } {
  const name = optionOf(query, option);
  const type = typeOf(columns, name);
  if (name === "" || (type && option.columnTypes?.includes(type))) return { query, ignored: [] };
  const part = `${option.key}=${name}`;
  return { query: withOption(query, option, option.default), ignored: [{ part, why }] };
}
