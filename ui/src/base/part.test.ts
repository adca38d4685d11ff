import { expect, test } from "vitest";
import { loadNow, loadPart, onPartFailure } from "./part";

const failure = () => new TypeError("Failed to fetch dynamically imported module: /a.js");

test("a part that the server does not send is asked for again until it comes", async () => {
  const failures: string[] = [];
  const stop = onPartFailure((failure) => {
    failures.push(failure);
    queueMicrotask(loadNow);
  });
  let asked = 0;
  const load = async () => {
    asked++;
    if (asked < 3) throw failure();
    return "part";
  };
  const renewed = async () => {
    if (asked === 1) throw new Error("away");
    return true;
  };
  expect(await loadPart(load, renewed)).toBe("part");
  expect(failures).toEqual(["missing", "renewed"]);
  stop();
});

test("a part with a fault of its own is not asked for again", async () => {
  let asked = 0;
  const load = async () => {
    asked++;
    throw new TypeError("x is undefined");
  };
  await expect(loadPart(load)).rejects.toThrow("x is undefined");
  expect(asked).toBe(1);
});
