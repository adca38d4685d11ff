import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { freeze } from "../api/documents";
import type { QuerySpec } from "../api/types";
import { useMainSpec } from "../explore/mainSpec";
import type { Query } from "../query/query";
import { type Range, withRange } from "../query/time";
import { go, urlOf } from "./address";

/** Answers that the server freezes together at most. */
const FROZEN_MAX = 16;

/** The items of the menu that keep the query, or its answer as it is. */
export function SaveItems(props: {
  query: Query;
  range: Range | null;
  copy: (text: string) => void;
  /** Opens the dialog that saves the query as a view or as a tile. */
  onSave: (kind: "view" | "tile") => void;
}) {
  const { query, range, copy, onSave } = props;
  const [failed, setFailed] = useState<string | null>(null);
  const client = useQueryClient();
  const shownSpec = useMainSpec();
  // The answer of a statement is not frozen.
  const main = shownSpec && "table" in shownSpec && query.view.kind !== "sql" ? shownSpec : null;
  const keep = async () => {
    if (!main || !range) return;
    const shown = client.getQueryCache().findAll({ queryKey: ["answer"], type: "active" });
    const others = shown.flatMap(({ queryKey, state }) => {
      const spec = queryKey[1] as QuerySpec | null;
      return spec && state.data && JSON.stringify(spec) !== JSON.stringify(main) ? [spec] : [];
    });
    const specs = [main, ...others].slice(0, FROZEN_MAX);
    const fixed = { ...withRange(query, range), bucket: query.bucket, refresh: "" };
    try {
      const name = await freeze(urlOf(fixed).slice(1), specs);
      const address = `?${new URLSearchParams({ page: "snapshot", snapshot: name })}`;
      copy(`${window.location.origin}/${address}`);
      go(address);
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <Menu.Divider />
      <Menu.Item onClick={() => onSave("view")}>Save view…</Menu.Item>
      <Menu.Item onClick={() => onSave("tile")}>Add to dashboard…</Menu.Item>
      <Menu.Item closeMenuOnClick={false} disabled={!main} onClick={() => void keep()}>
        Freeze this answer
      </Menu.Item>
      {failed && <Menu.Label c="red">{failed}</Menu.Label>}
    </>
  );
}
