import { expect, test } from "vitest";
import type { Answer } from "../../api/types";
import { rateOf, rateSpec } from "./rate";

const now = Date.parse("2026-11-28T15:30:42Z");

test("the last hour is of whole minutes; the rate is of the last five", () => {
  const spec = rateSpec("t", now);
  expect(spec.from).toBe("2026-11-28T14:30:00.000Z");
  expect(spec.to).toBe("2026-11-28T15:30:00.000Z");
  const answer = {
    columns: [
      { name: "time", type: "time" },
      { name: "count(*)", type: "number" },
    ],
    rows: [
      ["2026-11-28T14:30:00Z", 7],
      ["2026-11-28T15:29:00Z", 600],
      ["2026-11-28T15:30:00Z", 99],
    ],
  } as unknown as Answer;
  const { minutes, perSecond } = rateOf(answer, spec);
  expect(minutes).toHaveLength(60);
  expect([minutes[0], minutes[1], minutes[59]]).toEqual([7, 0, 600]);
  expect(perSecond).toBe(2);
});
