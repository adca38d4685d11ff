import { Suspense, useMemo } from "react";
import { lazyPart } from "../base/part";
import { chooseFile } from "../widgets/importing/chosenFile";
import { go } from "./address";
import type { PaletteContext } from "./Palette";
import { useRecentQueries } from "./recentQueries";

const Palette = lazyPart(() => import("./Palette"));

/** Remembers the queries of the page, and offers them and all commands while it is opened. */
export function CommandPalette(
  props: Omit<PaletteContext, "recent" | "importFile" | "go"> & {
    opened: boolean;
    onClose: () => void;
  },
) {
  const { query, columns, tables, now, commit, again, help, open, opened, onClose } = props;
  const recent = useRecentQueries(query);
  const context = useMemo(
    () => ({
      ...{ query, columns, tables, recent, now, commit, again, help, open, go },
      importFile: chooseFile,
    }),
    [query, columns, tables, recent, now, commit, again, help, open],
  );
  return <Suspense>{opened && <Palette context={context} onClose={onClose} />}</Suspense>;
}
