import {
  IconBraces,
  IconBrackets,
  IconChartHistogram,
  IconCircleDashed,
  IconClock,
  IconHash,
  IconLetterCase,
  IconToggleLeft,
} from "@tabler/icons-react";
import type { Type } from "../../api/types";

const ICONS = {
  string: { icon: IconLetterCase, name: "text" },
  number: { icon: IconHash, name: "number" },
  time: { icon: IconClock, name: "time" },
  bool: { icon: IconToggleLeft, name: "true or false" },
  set: { icon: IconBraces, name: "set" },
  vector: { icon: IconBrackets, name: "vector" },
  histogram: { icon: IconChartHistogram, name: "histogram" },
  null: { icon: IconCircleDashed, name: "no values" },
} as const;

/** The sign of a column's type, the same everywhere. */
export function TypeIcon({ type, size = 14 }: { type: Type; size?: number }) {
  const { icon: Icon, name } = ICONS[type];
  return (
    <Icon
      size={size}
      stroke={1.6}
      role="img"
      aria-label={name}
      color="var(--mantine-color-dimmed)"
      style={{ flex: "none" }}
    />
  );
}
