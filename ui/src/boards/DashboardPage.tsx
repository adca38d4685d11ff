import {
  ActionIcon,
  Alert,
  Button,
  Center,
  Group,
  Loader,
  Menu,
  Select,
  Stack,
  Text,
  TextInput,
  Title,
  Tooltip,
} from "@mantine/core";
import { IconDots, IconMaximize, IconRefresh } from "@tabler/icons-react";
import { useMemo, useRef, useState } from "react";
import { type Dashboard, deleteDashboard, type Tile } from "../api/documents";
import type { Table } from "../api/types";
import { durationWords } from "../base/duration";
import { visible } from "../base/format";
import type { Zone } from "../base/zone";
import {
  dashboardUrl,
  type Frame,
  fileText,
  frameOf,
  refreshOf,
  withTile,
} from "../query/dashboard";
import { filterText } from "../query/filter";
import type { Query } from "../query/query";
import { readQuery, urlOf } from "../query/url";
import { VIEWS } from "../views/registry";
import { ProblemCard } from "../widgets/ProblemCard";
import { BoardGrid } from "./BoardGrid";
import { BoardTile } from "./BoardTile";
import classes from "./boards.module.css";
import { FrameBar } from "./FrameBar";
import { LeaveQuestion } from "./LeaveQuestion";
import { useDashboard } from "./useDashboard";
import { useTileClock } from "./useTileClock";
import { VariablesButton } from "./VariablesDialog";

const RATES = ["15s", "1m", "5m", "15m"];

interface Props {
  /** The search part of the address. */
  search: string;
  tables: readonly Table[];
  zone: Zone;
  onZone: (zone: Zone) => void;
  /** Shows another address. */
  go: (url: string, replace?: boolean) => void;
}

/** One dashboard. */
export function DashboardPage(props: Props) {
  const name = new URLSearchParams(props.search).get("dashboard") ?? "";
  const state = useDashboard(name);
  const { data, error } = state.stored;
  if (data) return <Board {...props} state={state} file={data.file} />;
  if (error) {
    return (
      <Stack maw={520} mx="auto" pt="xl">
        <ProblemCard problem={error} onRetry={() => void state.stored.refetch()} />
        <Button variant="default" onClick={() => props.go("?page=dashboards")}>
          All dashboards
        </Button>
      </Stack>
    );
  }
  return (
    <Center mih="60vh">
      <Loader size="sm" aria-label="Loading" />
    </Center>
  );
}

function Board(
  props: Props & { state: ReturnType<typeof useDashboard>; file: string | undefined },
) {
  const { search, tables, zone, onZone, go, state, file } = props;
  const saved = state.stored.data?.dashboard as Dashboard;
  const { editing } = state;
  const dashboard = editing?.draft ?? saved;
  const frame = useMemo(() => frameOf(dashboard, search), [dashboard, search]);
  const [rate, setRate] = useState(refreshOf(saved.refresh));
  const [nowOf, again] = useTileClock(dashboard.tiles.length, rate);
  const board = useRef<HTMLDivElement>(null);
  const setFrame = (next: Frame) => go(dashboardUrl(dashboard, next));
  const setTiles = (change: (tiles: readonly Tile[]) => readonly Tile[]) =>
    state.draft((it) => ({ ...it, tiles: change(it.tiles) }));
  const hrefOf = (query: Query) =>
    `${urlOf(query, VIEWS)}&dashboard=${encodeURIComponent(saved.name)}`;
  const explore = (query: Query) => {
    // The way back leads to the same time and filters.
    sessionStorage.setItem(`hadal-board ${saved.name}`, search);
    go(hrefOf(query));
  };
  const save = async (over: boolean) => {
    const next = { ...editing?.draft, ...frameFields(dashboard, frame), refresh: rate };
    if (await state.save(next as Dashboard, over)) go(dashboardUrl(next as Dashboard, frame), true);
  };
  return (
    <div ref={board} className={classes.board} data-testid="board">
      <LeaveQuestion
        isAsked={state.leaving.isAsked}
        onLeave={state.leaving.leave}
        onStay={state.leaving.stay}
      />
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <BoardTitle dashboard={dashboard} file={file} edit={editing ? state.draft : null} />
          <Group gap={6}>
            {editing ? (
              <>
                <AddTile
                  onAdd={(title, query) => state.draft((it) => withTile(it, title, query))}
                />
                <VariablesButton {...{ dashboard, tables }} onChange={state.draft} />
                <Button size="xs" variant="default" onClick={state.cancel}>
                  Cancel
                </Button>
                <Button size="xs" loading={state.busy} onClick={() => void save(false)}>
                  Save
                </Button>
              </>
            ) : (
              <Button
                size="xs"
                variant="default"
                disabled={file !== undefined}
                onClick={state.edit}
              >
                Edit
              </Button>
            )}
            <RefreshTools
              rate={rate}
              onRate={setRate}
              again={again}
              onFullScreen={() => toggleFullScreen(board.current)}
            />
            <BoardMenu
              dashboard={saved}
              version={file === undefined && !editing ? (state.stored.data?.version ?? 0) : null}
              go={go}
            />
          </Group>
        </Group>
        {state.problem && (
          <Alert color="red" title={state.problem.body.title} role="alert">
            <Group justify="space-between">
              <Text size="sm">{state.problem.body.detail}</Text>
              {state.problem.conflicts && (
                <Button size="xs" color="red" variant="light" onClick={() => void save(true)}>
                  Replace what was saved meanwhile
                </Button>
              )}
            </Group>
          </Alert>
        )}
        <FrameBar
          dashboard={dashboard}
          frame={frame}
          tables={tables}
          now={nowOf(0)}
          zone={zone}
          onZone={onZone}
          onChange={setFrame}
        />
        {editing && (
          <Text size="xs" c="dimmed">
            Drag tiles, or their lower right corners. Save keeps the tiles, and the time,
            comparison, filters and values that are shown; Cancel keeps nothing.
          </Text>
        )}
        {dashboard.tiles.length === 0 && (
          <Text c="dimmed" ta="center" py={48} data-testid="no-tiles">
            No tiles yet. Open a query in Explore, then choose “Add to dashboard…” in the menu for
            sharing; or edit the dashboard and add a tile by its address.
          </Text>
        )}
        <BoardGrid
          tiles={dashboard.tiles}
          edits={editing !== null}
          onChange={(tiles) => setTiles(() => tiles)}
        >
          {(tile, at, height) => (
            <BoardTile
              tile={tile}
              frame={frame}
              tables={tables}
              now={nowOf(at)}
              zone={zone}
              height={height}
              hrefOf={hrefOf}
              onExplore={explore}
              actions={
                editing && {
                  onTitle: (title) =>
                    setTiles((tiles) => tiles.map((it, i) => (i === at ? { ...it, title } : it))),
                  onDuplicate: () =>
                    state.draft((it) => {
                      const { tiles } = withTile(it, tile.title ?? "", tile.query);
                      const last = tiles.at(-1);
                      const { w, h } = tile;
                      return {
                        ...it,
                        tiles: last ? [...it.tiles, { ...last, x: 0, w, h }] : tiles,
                      };
                    }),
                  onRemove: () => setTiles((tiles) => tiles.filter((_, i) => i !== at)),
                }
              }
            />
          )}
        </BoardGrid>
      </Stack>
    </div>
  );
}

/** The name of a dashboard and what it is for. */
function BoardTitle(props: {
  dashboard: Dashboard;
  file: string | undefined;
  /** Changes it; null while it is not edited. */
  edit: ((change: (dashboard: Dashboard) => Dashboard) => void) | null;
}) {
  const { dashboard, file, edit } = props;
  return (
    <Stack gap={0} className={classes.name}>
      <Title order={1} fz={22} className="wrap">
        {visible(dashboard.name)}
      </Title>
      {edit ? (
        <TextInput
          size="xs"
          aria-label="Description"
          placeholder="What it is for"
          value={dashboard.description ?? ""}
          onChange={(event) => {
            const description = event.currentTarget.value;
            edit((it) => ({ ...it, description }));
          }}
        />
      ) : (
        dashboard.description && (
          <Text size="sm" c="dimmed" className="wrap">
            {visible(dashboard.description)}
          </Text>
        )
      )}
      {file !== undefined && (
        <Text size="xs" c="dimmed">
          From the file {visible(file)}: change the file, or duplicate the dashboard.
        </Text>
      )}
    </Stack>
  );
}

/** Asks again, now or by itself; and full screen. */
function RefreshTools(props: {
  rate: string;
  onRate: (rate: string) => void;
  again: () => void;
  onFullScreen: () => void;
}) {
  const { rate, onRate, again, onFullScreen } = props;
  return (
    <>
      <Tooltip label="Refresh" openDelay={400}>
        <ActionIcon variant="subtle" color="gray" aria-label="Refresh" onClick={again}>
          <IconRefresh size={17} />
        </ActionIcon>
      </Tooltip>
      <Select
        size="xs"
        w={130}
        aria-label="Refresh by itself"
        data={[
          { value: "", label: "no refresh" },
          ...[...new Set([...RATES, ...(rate ? [rate] : [])])].map((value) => ({
            value,
            label: `every ${durationWords(value)}`,
          })),
        ]}
        value={rate}
        allowDeselect={false}
        onChange={(value) => onRate(value ?? "")}
      />
      <Tooltip label="Full screen" openDelay={400}>
        <ActionIcon variant="subtle" color="gray" aria-label="Full screen" onClick={onFullScreen}>
          <IconMaximize size={17} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

/** What a dashboard keeps of the frame that is shown. */
function frameFields(dashboard: Dashboard, frame: Frame): Partial<Dashboard> {
  const variables = (dashboard.variables ?? []).map((it) => ({
    ...it,
    value: frame.values[it.name] ?? "",
  }));
  const { from, to, compare } = frame;
  return { from, to, compare, filters: frame.filters.map(filterText), variables };
}

function toggleFullScreen(element: HTMLElement | null): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void element?.requestFullscreen();
}

/** A further tile, by the address of its query. */
function AddTile({ onAdd }: { onAdd: (title: string, query: string) => void }) {
  const [text, setText] = useState("");
  const address = text.slice(text.indexOf("?") + 1).trim();
  const { query, ignored } = readQuery(`?${address}`, VIEWS);
  const wrong = text !== "" && (!query || ignored.length > 0);
  return (
    <Menu shadow="md" position="bottom-end" width={360}>
      <Menu.Target>
        <Button size="xs" variant="default">
          Add tile
        </Button>
      </Menu.Target>
      <Menu.Dropdown p="sm">
        <TextInput
          size="xs"
          label="Link of a query, or its address"
          placeholder="table=requests&view=time&by=service"
          value={text}
          error={wrong && (ignored[0] ? `${ignored[0].part} ${ignored[0].why}` : "It has no table")}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.stopPropagation()}
        />
        <Button
          size="xs"
          mt="xs"
          disabled={!query || wrong}
          onClick={() => {
            onAdd("", address);
            setText("");
          }}
        >
          Add
        </Button>
      </Menu.Dropdown>
    </Menu>
  );
}

/** What can be done with a whole dashboard. */
function BoardMenu(props: {
  dashboard: Dashboard;
  /** Null where it cannot be removed. */
  version: number | null;
  go: Props["go"];
}) {
  const { dashboard, version, go } = props;
  const [sure, setSure] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const remove = async () => {
    if (version === null) return;
    try {
      await deleteDashboard(dashboard.name, version);
      go("?page=dashboards");
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Menu shadow="md" position="bottom-end" onClose={() => setSure(false)}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Menu of the dashboard">
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => go("?page=dashboards")}>All dashboards</Menu.Item>
        <Menu.Item
          component="a"
          href={`data:application/json;charset=utf-8,${encodeURIComponent(fileText(dashboard))}`}
          download={`${dashboard.name}.json`}
        >
          Export as a file
        </Menu.Item>
        {version !== null && (
          <Menu.Item
            color="red"
            closeMenuOnClick={false}
            onClick={() => (sure ? void remove() : setSure(true))}
          >
            {sure ? "Remove it for everybody" : "Remove…"}
          </Menu.Item>
        )}
        {failed && <Menu.Label c="red">{failed}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}
