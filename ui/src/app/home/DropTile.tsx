import { Text, UnstyledButton } from "@mantine/core";
import { IconFileImport } from "@tabler/icons-react";
import { chooseFile } from "../../widgets/importing/chosenFile";

/** Where a file can be dropped: the page takes it anywhere, but here one sees it. */
export function DropTile() {
  return (
    <UnstyledButton className="drop-tile" onClick={chooseFile}>
      <IconFileImport size={22} stroke={1.4} aria-hidden />
      <Text fz="sm" fw={600}>
        Choose a file, or drop one here
      </Text>
      <Text fz="xs" c="dimmed">
        JSON, CSV or a log, also gzip. You see how it is read before anything is stored.
      </Text>
    </UnstyledButton>
  );
}
