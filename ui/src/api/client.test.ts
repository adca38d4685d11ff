import { expect, it } from "vitest";
import { Problem } from "./client";

const problem = (title: string, detail: string, status = 504) =>
  new Problem({ type: "about:blank", title, status, detail });

it("knows a late answer, and a detail that only repeats the title", () => {
  const late = problem("There is no answer by the deadline", "there is no answer by the deadline");
  expect(late).toMatchObject({ late: true, repeats: true, passing: false });
  const other = problem("A limit was reached", "more than 1,000 groups", 422);
  expect(other).toMatchObject({ late: false, repeats: false });
});
