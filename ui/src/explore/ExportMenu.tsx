import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { Suspense, useState } from "react";
import { lazyPart } from "../base/part";
import type { Exported } from "./exporting/exported";

const Panel = lazyPart(async () => ({
  default: (await import("./exporting/ExportPanel")).ExportPanel,
}));

/** The button *Export*. The menu is loaded when it is first opened. */
export function ExportMenu(exported: Exported) {
  const [used, setUsed] = useState(false);
  const button = (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconDownload size={13} />}
      aria-haspopup="menu"
      disabled={exported.busy}
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
