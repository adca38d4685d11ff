import {
  ActionIcon,
  Button,
  Group,
  Menu,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import {
  type Icon,
  IconArrowLeft,
  IconCheck,
  IconFileImport,
  IconFunction,
  IconHistory,
  IconKeyboard,
  IconLayoutDashboard,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconShare,
  IconSun,
} from "@tabler/icons-react";
import { memo, Suspense, useCallback, useEffect, useState } from "react";
import type { Table } from "../api/types";
import { durationWords } from "../base/duration";
import { lazyPart } from "../base/part";
import type { Commit } from "../explore/context";
import { useMainSpec } from "../explore/mainSpec";
import type { Query } from "../query/query";
import { goLive, LIVE_RATE, type Range, rangeOf, withRange } from "../query/time";
import { copyText } from "../widgets/clipboard";
import { ClusterSign } from "../widgets/cluster/ClusterSign";
import { chooseFile } from "../widgets/importing/chosenFile";
import { go, type PageName, urlOf, useSearch } from "./address";
import { SaveItems } from "./SaveItems";
import { useCluster } from "./useCluster";

const SaveDialog = lazyPart(() => import("../boards/SaveDialog"));

const RATES = [LIVE_RATE, "5s", "15s", "1m", "5m"];

/** The right end of the head: the cluster, ask again, live, share, light or dark, keys. */
export function Tools(props: {
  query: Query | null;
  table?: Table;
  now: number;
  commit: Commit;
  again: () => void;
  help: () => void;
  palette: () => void;
  page: PageName;
  open: (page: PageName) => void;
}) {
  const { query, now, commit, again, help, page, open } = props;
  const atCluster = page === "cluster";
  const { data } = useCluster(atCluster);
  const cluster = useToggled("cluster", page, open);
  const functions = useToggled("functions", page, open);
  const returns =
    page !== "query" && (page !== "home" || window.location.search.includes("table="));
  return (
    <Group gap={4} wrap="nowrap" ml="auto">
      {page === "query" && <BackToBoard />}
      {returns && (
        <Button
          size="compact-sm"
          variant="default"
          mr={4}
          leftSection={<IconArrowLeft size={14} />}
          onClick={() => (keepsQuery(page) ? open("query") : go(""))}
        >
          Explore
        </Button>
      )}
      <ClusterSign cluster={data?.cluster} on={atCluster} onOpen={cluster} />
      <ToolButton
        label="Dashboards and saved views"
        icon={IconLayoutDashboard}
        on={page === "dashboards"}
        onClick={openDashboards}
      />
      {query && (
        <>
          <ToolButton label="Refresh" icon={IconRefresh} onClick={again} />
          <Live refresh={query.refresh} now={now} commit={commit} />
          <Share query={query} range={rangeOf(query, now, props.table)} commit={commit} />
        </>
      )}
      <span className="wide-only">
        <ToolButton
          label="Functions"
          icon={IconFunction}
          on={page === "functions"}
          onClick={functions}
        />
      </span>
      <span className="wide-only">
        <ToolButton label="Import a file" icon={IconFileImport} onClick={chooseFile} />
      </span>
      <Scheme />
      <span className="wide-only">
        <ToolButton
          label="Commands and recent queries (Ctrl K)"
          icon={IconHistory}
          onClick={props.palette}
        />
      </span>
      <span className="wide-only">
        <ToolButton label="Keyboard shortcuts (?)" icon={IconKeyboard} onClick={help} />
      </span>
    </Group>
  );
}

const openDashboards = () => go("?page=dashboards");

/** Opens a page, or leaves it for the query. */
function useToggled(name: PageName, page: PageName, open: (page: PageName) => void): () => void {
  const next = page === name ? "query" : name;
  return useCallback(() => open(next), [next, open]);
}

/** The way back to the dashboard that the query was opened from, as it was. */
function BackToBoard() {
  const board = new URLSearchParams(useSearch()).get("dashboard");
  if (board === null) return null;
  const usual = `?${new URLSearchParams({ page: "dashboard", dashboard: board })}`;
  return (
    <Button
      size="compact-sm"
      variant="default"
      mr={4}
      maw={200}
      leftSection={<IconArrowLeft size={14} />}
      title={`Back to ${board}`}
      onClick={() => go(sessionStorage.getItem(`hadal-board ${board}`) ?? usual)}
    >
      {board}
    </Button>
  );
}

/** Whether the query stays in the address while a page is shown. */
const keepsQuery = (page: PageName) =>
  page === "home" || page === "cluster" || page === "functions";

const ToolButton = memo(function ToolButton(props: {
  label: string;
  icon: Icon;
  onClick?: () => void;
  on?: boolean;
}) {
  const { label, icon: Sign, onClick, on = false } = props;
  return (
    <ActionIcon
      variant={on ? "light" : "subtle"}
      color={on ? "teal" : "gray"}
      aria-label={label}
      aria-pressed={on}
      data-hint={label}
      onClick={onClick}
    >
      <Sign size={17} />
    </ActionIcon>
  );
});

const Live = memo(function Live(props: { refresh: string; now: number; commit: Commit }) {
  const { refresh, now, commit } = props;
  const on = refresh !== "";
  return (
    <Menu shadow="md" position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant={on ? "light" : "subtle"}
          color={on ? "teal" : "gray"}
          aria-label={on ? `Asks again every ${durationWords(refresh)}` : "Ask again by itself"}
        >
          {on ? <IconPlayerPause size={17} /> : <IconPlayerPlay size={17} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Auto-refresh</Menu.Label>
        {RATES.map((rate) => (
          <Menu.Item
            key={rate}
            onClick={() => commit((query) => goLive(query, now, rate))}
            fw={rate === refresh ? 700 : 400}
          >
            every {durationWords(rate)}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => commit((query) => ({ ...query, refresh: "" }))} disabled={!on}>
          Off
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
});

const COPIED_MS = 1500;

/** Copies a text, and marks for a moment that it did. */
function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (text: string) => void copyText(text).then(setCopied);
  return [copied, copy];
}

const ShowAs = lazyPart(() => import("./ShowAs"));

/** Links and other spellings of what is on the page. */
function Share(props: { query: Query; range: Range | null; commit: Commit }) {
  const { query, range, commit } = props;
  const [copied, copy] = useCopy();
  const [dialog, setDialog] = useState<"view" | "tile" | null>(null);
  const [showsAs, setShowsAs] = useState(false);
  const link = (shared: Query) => copy(`${window.location.origin}/${urlOf(shared)}`);
  const fixed = () => range && link({ ...withRange(query, range), bucket: query.bucket });
  return (
    <>
      <Menu shadow="md" position="bottom-end">
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            title={copied ? "Copied" : undefined}
            color={copied ? "teal" : "gray"}
            aria-label="Share and copy"
          >
            {copied ? <IconCheck size={17} /> : <IconShare size={17} />}
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => link(query)}>Copy link</Menu.Item>
          {range && <Menu.Item onClick={fixed}>Copy link to this fixed time</Menu.Item>}
          <SaveItems query={query} range={range} copy={copy} onSave={setDialog} />
          <Menu.Divider />
          <ShowAsItem onClick={() => setShowsAs(true)} />
        </Menu.Dropdown>
      </Menu>
      <Suspense fallback={null}>
        {showsAs && <ShowAs query={query} commit={commit} onClose={() => setShowsAs(false)} />}
        {dialog && (
          <SaveDialog kind={dialog} query={query} onClose={() => setDialog(null)} go={go} />
        )}
      </Suspense>
    </>
  );
}

/** Only the open menu follows the main request of the view. */
function ShowAsItem({ onClick }: { onClick: () => void }) {
  const hasMain = useMainSpec() !== null;
  return (
    <Menu.Item onClick={onClick} disabled={!hasMain}>
      Show as SQL, JSON, curl, Python…
    </Menu.Item>
  );
}

const Scheme = memo(function Scheme() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme("light") === "dark";
  const change = useCallback(() => setColorScheme(dark ? "light" : "dark"), [dark, setColorScheme]);
  return (
    <ToolButton label={dark ? "Light" : "Dark"} icon={dark ? IconSun : IconMoon} onClick={change} />
  );
});
