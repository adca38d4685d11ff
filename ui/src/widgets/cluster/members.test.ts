import { describe, expect, it } from "vitest";
import type { MemberState } from "../../api/cluster";
import { clusterOf, leafOf } from "./cluster.fixture";
import { countTones, healthOf, leavesOf, shortName, stateWords, toneOf } from "./members";

const NOW = Date.parse("2026-11-21T10:01:05Z");

describe("stateWords", () => {
  it("says how far a leaf is, and for how long it is silent", () => {
    expect(stateWords(leafOf("a", "alive"), NOW)).toBe("alive");
    expect(stateWords(leafOf("a", "alive"), NOW - 8000)).toBe("alive for 57 s");
    expect(stateWords(leafOf("a", "disk recovery", 63, 100), NOW)).toBe("restoring 63.0 %");
    expect(stateWords(leafOf("a", "prepare"), NOW)).toBe("about to stop");
    expect(stateWords(leafOf("a", "silent"), NOW)).toBe("silent for 1 min 5 s");
    expect(stateWords({ ...leafOf("a", "silent"), since: null }, NOW)).toBe("silent");
    expect(stateWords({ ...leafOf("a", "silent"), release: null }, NOW)).toBe("gone");
  });

  it("takes a state of a later release for one that is not usual", () => {
    expect(toneOf("thawing" as MemberState)).toBe("restoring");
  });
});

describe("healthOf", () => {
  it("has no words where all is well", () => {
    const health = healthOf(clusterOf([leafOf("m-0/a", "alive"), leafOf("m-0/b", "alive")]));
    expect(health).toEqual({
      tone: "good",
      words: "",
      sentence: "1 machine, 2 leaves, all rows in answers",
    });
  });

  it("says what is missing, and the first problem", () => {
    const cluster = clusterOf([leafOf("m-0/a", "alive"), leafOf("m-0/b", "silent", 0, 10)]);
    const health = healthOf({ ...cluster, problems: ["m-0/b is silent"] });
    expect(health).toEqual({
      tone: "bad",
      words: "50.0 % · 1 silent",
      sentence: "m-0/b is silent",
    });
  });

  it("notices what takes no rows away", () => {
    const cluster = clusterOf([leafOf("m-0/a", "alive")]);
    const health = healthOf({ ...cluster, problems: ["two releases", "a clock is off"] });
    expect([health.tone, health.words]).toEqual(["notice", "2 problems"]);
    expect(healthOf(clusterOf([leafOf("m-0/a", "alive", 998, 1000)])).tone).toBe("notice");
    expect(healthOf(clusterOf([leafOf("m-0/a", "alive", 995, 1000)])).tone).toBe("bad");
  });
});

it("counts the worst states first", () => {
  const states: MemberState[] = ["alive", "silent", "memory recovery", "disk recovery"];
  expect(countTones(states.map((state) => leafOf("a", state)))).toEqual([
    ["silent", 1],
    ["restoring", 2],
    ["alive", 1],
  ]);
});

it("names a leaf without its machine", () => {
  expect(shortName({ name: "m-0" }, "m-0/leaf-1")).toBe("leaf-1");
  expect(shortName({ name: "localhost" }, "leaf-1")).toBe("leaf-1");
  const [leaf] = leavesOf(clusterOf([leafOf("m-0/a", "alive")]));
  expect(leaf?.name).toBe("m-0/a");
});
