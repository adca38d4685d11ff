import { expect, it } from "vitest";
import { exactInUnit, inUnit, unitOfColumn, unitOfName } from "./units";

it("knows units by the ends of names", () => {
  const names = ["latency_us", "took_ms", "rss_bytes", "bytes", "cpu_pct", "hit_ratio", "wait_s"];
  expect(names.map(unitOfName)).toEqual(["us", "ms", "bytes", "bytes", "percent", "share", "s"]);
  for (const name of ["status", "miss", "us", "http_status", "megabytes_count", "__proto__"]) {
    expect(unitOfName(name), name).toBeNull();
  }
});

it("writes numbers in their units", () => {
  expect(inUnit(553_412, "us")).toBe("553 ms");
  expect(inUnit(999.6, "us")).toBe("1 ms");
  expect(inUnit(12, "ms")).toBe("12 ms");
  expect(inUnit(90, "s")).toBe("90 s");
  expect(inUnit(600, "s")).toBe("10 min");
  expect(inUnit(0, "us")).toBe("0 µs");
  expect(inUnit(-1500, "us")).toBe("-1.5 ms");
  expect(inUnit(36_000, "bytes")).toBe("35.2 KiB");
  expect(inUnit(0.0311, "share")).toBe("3.11 %");
  expect(inUnit(0.9999, "share")).toBe("99.99 %");
  expect(inUnit(1, "share")).toBe("100 %");
  expect(inUnit(42, "percent")).toBe("42 %");
  expect(inUnit(1234, "per second")).toBe("1,234 /s");
  expect(inUnit(1_240_000, null)).toBe("1.24 M");
  expect(exactInUnit(553_412, "us")).toBe("553,412 (553 ms)");
  expect(exactInUnit("12", null)).toBe("12");
});

it("takes the unit that was set for a column before that of its name", () => {
  const columns = [
    { name: "took", unit: "ms" as const },
    { name: "odd_ms", unit: "none" as const },
    { name: "wait_s" },
  ];
  const units = ["took", "odd_ms", "wait_s", "gone_bytes"].map((it) => unitOfColumn(columns, it));
  expect(units).toEqual(["ms", null, "s", "bytes"]);
});
