import { expect, test } from "vitest";
import { curlText, jsonText, pythonText } from "./spellings";

const spec = { table: "t", filter: [`a = 'it''s "x" \\ y'`] };

test("a request is spelled as curl, JSON and Python", () => {
  expect(curlText({ sql: "SELECT 'a'" }, "http://h")).toBe(
    `curl http://h/v1/query -d '{"sql":"SELECT '\\''a'\\''"}'`,
  );
  expect(JSON.parse(jsonText(spec)).query).toEqual(spec);
  expect(jsonText(spec)).toContain("\n");
});

test("the body in Python is the string that JSON reads", () => {
  const line = pythonText(spec, "http://h").split("\n")[2] ?? "";
  const literal = /^body = json\.loads\((.*)\)$/.exec(line)?.[1] ?? "";
  expect(JSON.parse(JSON.parse(literal)).query).toEqual(spec);
});
