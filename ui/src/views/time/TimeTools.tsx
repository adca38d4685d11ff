import { Button, Popover, Skeleton } from "@mantine/core";
import { Suspense } from "react";
import { lazyPart } from "../../base/part";
import { useExplore } from "../../explore/context";
import { optionOf, type ViewOption, withOption } from "../../query/viewManifest";
import { EACH, LOG, MARKS, PANELS, SCALE } from "./options";

const MarksControl = lazyPart(() => import("./MarksControl"));

/** How the series are drawn: by their logarithms, each in its chart, with marks in time. */
export function TimeTools() {
  const { query } = useExplore();
  return (
    <>
      <Toggle label="Log scale" option={SCALE} on={LOG} />
      {query.group.length > 0 && <Toggle label="A chart each" option={PANELS} on={EACH} />}
      <Popover position="bottom-start" shadow="md" width={260}>
        <Popover.Target>
          <Button size="compact-xs" variant={optionOf(query, MARKS) === "" ? "default" : "light"}>
            Marks
          </Button>
        </Popover.Target>
        <Popover.Dropdown p="xs" aria-label="Marks in time">
          <Suspense fallback={<Skeleton h={50} />}>
            <MarksControl />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </>
  );
}

function Toggle({ label, option, on }: { label: string; option: ViewOption<string>; on: string }) {
  const { query, commit } = useExplore();
  const isOn = optionOf(query, option) === on;
  return (
    <Button
      size="compact-xs"
      variant={isOn ? "light" : "default"}
      aria-pressed={isOn}
      onClick={() => commit(withOption(query, option, isOn ? "" : on))}
    >
      {label}
    </Button>
  );
}
