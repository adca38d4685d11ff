import { describe, expect, it } from "vitest";
import type { Rollover } from "../../api/rollover";
import { hasEnded, leavesOf, phaseWords, resumeLine, rollingWords } from "./words";

const rollover: Rollover = {
  phase: "running",
  reason: null,
  begun: "2026-11-27T12:00:00Z",
  at: "2026-11-27T12:01:05Z",
  share: 0.02,
  coverage_floor: 0.97,
  stop_seconds: 180,
  started_before: null,
  resume_from: "2026-11-27T12:00:00Z",
  old: 3,
  rolling: [{ name: "m-1/leaf-0", since: "2026-11-27T12:01:03Z", failed: false }],
  new: 2,
  coverage: 1,
  history: [],
};

describe("a rollover in words", () => {
  it("counts all leaves", () => {
    expect(leavesOf(rollover)).toBe(6);
  });

  it("says how far it is", () => {
    expect(phaseWords(rollover)).toBe("running for 1 min 5 s");
    expect(phaseWords({ ...rollover, phase: "stopped" })).toBe("stopped after 1 min 5 s");
    expect(phaseWords({ ...rollover, phase: "done" })).toBe("done in 1 min 5 s");
    expect(hasEnded(rollover)).toBe(false);
    expect(hasEnded({ phase: "stopping" })).toBe(false);
    expect(hasEnded({ phase: "stopped" })).toBe(true);
  });

  it("names the leaves that are restarting, and those that did not come back", () => {
    const leaf = rollover.rolling[0] as Rollover["rolling"][number];
    expect(rollingWords(leaf, rollover.at)).toBe("m-1/leaf-0 for 2 s");
    expect(rollingWords({ ...leaf, failed: true }, rollover.at)).toBe(
      "m-1/leaf-0 did not come back",
    );
  });

  it("has the command that continues it", () => {
    expect(resumeLine(rollover)).toBe("hadal rollover --started-before 2026-11-27T12:00:00Z");
  });
});
