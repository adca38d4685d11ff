// Groups of numbers: a number column has too many values, its steps have a few.

import { numberOf } from "../../api/client";
import type { Column } from "../../api/types";
import { roundStep } from "../../base/roundStep";
import { inUnit, shownAs, unitOfColumn } from "../../base/units";
import { quoteName } from "../../query/sql";
import { distinctOf } from "../columns/columns";

/** Fewer values are codes, which are groups as they are. */
const MANY_VALUES = 50;
/** Steps below the 95th percentile. */
const STEPS = 10;

/** A column in round steps: `latency_us by 20 ms`. */
export interface NumberSteps {
  readonly label: string;
  /** The SQL to group by; its alias is the label. */
  readonly expression: string;
}

/** The steps of a column; null if it has few values, or none are known. */
export function numberSteps(column: Column): NumberSteps | null {
  const low = numberOf(column.min);
  const high = numberOf(column.p95) ?? numberOf(column.max);
  if (column.type !== "number" || (distinctOf(column) ?? 0) <= MANY_VALUES) return null;
  if (low === null || high === null || !(high > low)) return null;
  const unit = unitOfColumn([column], column.name);
  const { factor } = shownAs(unit, high);
  const step = Number((roundStep((high - low) / factor, STEPS) * factor).toPrecision(6));
  const label = `${column.name} by ${inUnit(step, unit)}`;
  const expression = `bucket(${quoteName(column.name)}, ${step}) AS ${quoteName(label)}`;
  return { label, expression };
}
