import { lazy, Suspense, useMemo } from "react";
import { chooseFile } from "../widgets/importing/chosenFile";
import type { CommandContext } from "./commands";
import { useRecentQueries } from "./recentQueries";

const Palette = lazy(() => import("./Palette"));

/** Remembers the queries of the page, and offers them and all commands while it is opened. */
export function CommandPalette(
  props: Omit<CommandContext, "recent" | "importFile"> & { opened: boolean; onClose: () => void },
) {
  const { query, columns, tables, now, commit, again, help, openCluster, opened, onClose } = props;
  const recent = useRecentQueries(query);
  const context = useMemo(
    () => ({
      ...{ query, columns, tables, recent, now, commit, again, help, openCluster },
      importFile: chooseFile,
    }),
    [query, columns, tables, recent, now, commit, again, help, openCluster],
  );
  return <Suspense>{opened && <Palette context={context} onClose={onClose} />}</Suspense>;
}
