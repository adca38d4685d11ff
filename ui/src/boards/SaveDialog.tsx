import {
  Autocomplete,
  Button,
  Group,
  Modal,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Problem } from "../api/client";
import {
  fetchDashboard,
  fetchDashboards,
  fetchViews,
  putDashboard,
  putView,
} from "../api/documents";
import { tileText, tileTitle, withTile } from "../query/dashboard";
import type { Query } from "../query/query";
import { urlOf } from "../query/url";
import { VIEWS } from "../views/registry";
import { DASHBOARDS_KEY, dashboardKey, VIEWS_KEY } from "./useDashboard";

interface Props {
  /** Whether the query becomes a saved view, or a tile of a dashboard. */
  kind: "view" | "tile";
  query: Query;
  onClose: () => void;
  /** Shows a dashboard. */
  go: (url: string) => void;
}

/** Saves the query under a name, or as a tile of a dashboard. */
export default function SaveDialog(props: Props) {
  const { kind, onClose } = props;
  return (
    <Modal
      opened
      onClose={onClose}
      title={kind === "view" ? "Save this view" : "Add to a dashboard"}
      size="sm"
    >
      {kind === "view" ? <ViewForm {...props} /> : <TileForm {...props} />}
    </Modal>
  );
}

/** Runs a change, and says what was wrong with it. */
function useSaving(): {
  problem: Problem | null;
  busy: boolean;
  run: (change: () => Promise<void>) => void;
} {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const run = (change: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    change()
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        setProblem(error);
      })
      .finally(() => setBusy(false));
  };
  return { problem, busy, run };
}

function ViewForm({ query, onClose }: Props) {
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: VIEWS_KEY, queryFn: ({ signal }) => fetchViews(signal) });
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [owner, setOwner] = useLocalStorage({ key: "hadal-owner", defaultValue: "" });
  const { problem, busy, run } = useSaving();
  const there = data?.find((view) => view.name === name.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(async () => {
      const view = { name: name.trim(), owner, description, query: urlOf(query, VIEWS).slice(1) };
      await putView(view, there?.version ?? 0);
      void client.invalidateQueries({ queryKey: VIEWS_KEY });
      onClose();
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label="Description"
          autosize
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <TextInput
          label="Owner"
          placeholder="You, or your team"
          value={owner}
          onChange={(event) => setOwner(event.currentTarget.value)}
        />
        {there && <Text size="sm">This replaces the view of that name.</Text>}
        <Foot problem={problem} busy={busy} disabled={name.trim() === ""}>
          {there ? "Replace" : "Save"}
        </Foot>
      </Stack>
    </form>
  );
}

function TileForm({ query, onClose, go }: Props) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: DASHBOARDS_KEY,
    queryFn: ({ signal }) => fetchDashboards(signal),
  });
  const [name, setName] = useState("");
  const [title, setTitle] = useState("");
  const usual = tileTitle(query, VIEWS);
  const { problem, busy, run } = useSaving();
  const stored = (data?.dashboards ?? []).filter(({ file }) => file === undefined);
  const isNew = name.trim() !== "" && !stored.some((it) => it.name === name.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(async () => {
      const board = name.trim();
      const { from, to, compare } = query;
      const before = isNew
        ? { version: 0, dashboard: { name: board, from, to, compare, tiles: [] } }
        : await fetchDashboard(board);
      const next = withTile(before.dashboard, title.trim() || usual, tileText(query, VIEWS));
      const saved = await putDashboard(next, before.version);
      client.setQueryData(dashboardKey(board), saved);
      void client.invalidateQueries({ queryKey: DASHBOARDS_KEY });
      onClose();
      go(`?${new URLSearchParams({ page: "dashboard", dashboard: board })}`);
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Autocomplete
          label="Dashboard"
          placeholder="Pick one, or name a new one"
          data-autofocus
          data={stored.map((it) => it.name)}
          value={name}
          onChange={setName}
        />
        <TextInput
          label="Title of the tile"
          placeholder={usual}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <Text size="sm" c="dimmed">
          The tile takes its time and comparison from the dashboard.
        </Text>
        <Foot problem={problem} busy={busy} disabled={name.trim() === ""}>
          {isNew ? "Create the dashboard" : "Add"}
        </Foot>
      </Stack>
    </form>
  );
}

function Foot(props: {
  problem: Problem | null;
  busy: boolean;
  disabled: boolean;
  children: string;
}) {
  return (
    <>
      {props.problem && (
        <Text size="sm" c="red" role="alert">
          {props.problem.message}
        </Text>
      )}
      <Group justify="flex-end">
        <Button type="submit" loading={props.busy} disabled={props.disabled}>
          {props.children}
        </Button>
      </Group>
    </>
  );
}
