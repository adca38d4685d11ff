import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { lazy, type RefObject, Suspense, useState } from "react";
import type { Answer, QuerySpec } from "../api/types";

const Panel = lazy(async () => ({
  default: (await import("./exporting/ExportPanel")).ExportPanel,
}));

/** What can be saved or copied: an answer, the query that it answers, and the picture of it. */
export interface Exported {
  readonly spec: QuerySpec;
  readonly answer: Answer;
  /** The element with the title of the view and its fields. */
  readonly heading: RefObject<HTMLElement | null>;
  readonly picture: RefObject<HTMLElement | null>;
}

/** The button *Export*. The menu is loaded when it is first opened. */
export function ExportMenu(exported: Exported) {
  const [used, setUsed] = useState(false);
  const button = (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconDownload size={13} />}
      aria-haspopup="menu"
      onClick={() => setUsed(true)}
    >
      Export
    </Button>
  );
  if (!used) return button;
  return (
    <Suspense fallback={button}>
      <Panel {...exported} />
    </Suspense>
  );
}
