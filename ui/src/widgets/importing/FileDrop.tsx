import { Overlay, Stack, Text } from "@mantine/core";
import { IconFileImport } from "@tabler/icons-react";
import { memo, Suspense, useEffect, useState } from "react";
import { lazyPart } from "../../base/part";
import { onChosenFile } from "./chosenFile";

const ImportDialog = lazyPart(() => import("./ImportDialog"));

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Takes a file that is dropped anywhere on the page, or chosen with a button. */
export const FileDrop = memo(function FileDrop(props: { onOpen: (table: string) => void }) {
  const { onOpen } = props;
  const [file, setFile] = useState<File | null>(null);
  const over = useDrop(setFile);
  useEffect(() => onChosenFile(setFile), []);
  return (
    <>
      {over && (
        <Overlay fixed blur={2} zIndex={400} center>
          <Stack align="center" gap="xs" c="white">
            <IconFileImport size={48} stroke={1.3} />
            <Text fz="lg" fw={600}>
              Drop a file to look into it
            </Text>
            <Text fz="sm">JSON, CSV or a log, also gzip. It is stored after you have seen it.</Text>
          </Stack>
        </Overlay>
      )}
      {file && (
        <Suspense>
          <ImportDialog
            key={`${file.name} ${file.size} ${file.lastModified}`}
            file={file}
            onClose={() => setFile(null)}
            onOpen={(table) => {
              setFile(null);
              onOpen(table);
            }}
          />
        </Suspense>
      )}
    </>
  );
});

/** Whether a file is being dragged over the page; `take` gets the one that is dropped. */
function useDrop(take: (file: File) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    // Each element that is entered is left later; the page is left when all are.
    let entered = 0;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      entered++;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      entered--;
      if (entered <= 0) setOver(false);
    };
    const allow = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      entered = 0;
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) take(file);
    };
    const listeners = { dragenter: enter, dragleave: leave, dragover: allow, drop };
    const all = Object.entries(listeners) as [keyof typeof listeners, (e: DragEvent) => void][];
    for (const [name, listener] of all) window.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of all) window.removeEventListener(name, listener);
    };
  }, [take]);
  return over;
}
