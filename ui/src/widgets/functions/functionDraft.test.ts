import { expect, test } from "vitest";
import {
  isTemplate,
  newFunction,
  parametersOf,
  parametersText,
  signatureOf,
} from "./functionDraft";

test("parameters are names with types, in any spacing", () => {
  const two = [
    { name: "page", type: "string" },
    { name: "n", type: "number" },
  ];
  expect(parametersOf(" page  string,n number ")).toEqual(two);
  expect(parametersOf("")).toEqual([]);
  for (const wrong of ["page", "page text", "page string n", "a number,", "a number b string"]) {
    expect(parametersOf(wrong), wrong).toBeNull();
  }
});

test("the text of parameters reads as these parameters", () => {
  for (const text of ["", "a bool", "a bool, b number, c string"]) {
    expect(parametersText(parametersOf(text) ?? [])).toBe(text);
  }
});

test("a new function is a template until its source is written", () => {
  const draft = { ...newFunction("aggregate"), name: "usual" };
  expect(signatureOf(draft)).toBe("usual(x number) → number");
  expect(isTemplate(draft)).toBe(true);
  expect(isTemplate({ ...draft, source: "function init() {}" })).toBe(false);
});
