// The reader's preferences, which hold for every query; the browser stores them.

import { useLocalStorage } from "@mantine/hooks";
import type { Zone } from "../base/zone";

/** The zone that times are shown in. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setZone] = useLocalStorage<Zone>({
    key: "hadal-zone",
    defaultValue: "local",
    getInitialValueInEffect: false,
  });
  return [isZone(zone) ? zone : "local", setZone];
}

function isZone(zone: unknown): zone is Zone {
  if (zone === "local") return true;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: String(zone) });
    return typeof zone === "string";
  } catch {
    return false;
  }
}
