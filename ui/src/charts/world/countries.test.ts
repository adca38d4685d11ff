import { expect, test } from "vitest";
import { countryOf } from "./countries";

test("countries are known by codes and names, whatever the case", () => {
  for (const text of ["DE", "de", "deu", "Germany", " GERMANY "]) {
    expect(countryOf(text)).toEqual({ code: "DE", id: 276, name: "Germany" });
  }
  expect(countryOf("United States of America")?.code).toBe("US");
  expect(countryOf("AF")?.id).toBe(4);
});

test("other texts are no countries", () => {
  for (const text of ["", "XX", "__proto__", "constructor", "Atlantis"]) {
    expect(countryOf(text)).toBeNull();
  }
});
