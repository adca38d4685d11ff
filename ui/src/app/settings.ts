// The reader's preferences, which hold for every query; the browser stores them.

import { readLocalStorageValue, useLocalStorage } from "@mantine/hooks";
import type { Zone } from "../base/zone";

const ZONE = { key: "hadal-zone", defaultValue: "local" as Zone };

/** The zone that times are shown in. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setZone] = useLocalStorage<Zone>({ ...ZONE, getInitialValueInEffect: false });
  return [validZone(zone), setZone];
}

/** The zone that times are shown in, as it is stored now. */
export const storedZone = (): Zone => validZone(readLocalStorageValue<Zone>(ZONE));

const validZone = (zone: unknown): Zone => (isZone(zone) ? zone : "local");

function isZone(zone: unknown): zone is Zone {
  if (zone === "local") return true;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: String(zone) });
    return typeof zone === "string";
  } catch {
    return false;
  }
}
