import { expect, it } from "vitest";
import { fieldNames, fieldsText } from "./options";

it("keeps the names of columns in the address, whatever is in them", () => {
  const names = ["status", "Odd, name", 'say "x"', "order", "http.status", "__proto__"];
  expect(fieldNames(fieldsText(names))).toEqual(names);
  expect(fieldNames("a, b,a")).toEqual(["a", "b"]);
  expect(fieldNames("")).toEqual([]);
});
