import {
  ActionIcon,
  Button,
  Group,
  Kbd,
  Menu,
  Modal,
  Table,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import {
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
import { lazy, Suspense, useEffect, useState } from "react";
import type { Table as TableStatus } from "../api/types";
import { durationWords } from "../base/duration";
import { useMainSpec } from "../explore/mainSpec";
import type { Query } from "../query/query";
import { goLive, LIVE_RATE, type Range, rangeOf, withRange } from "../query/time";
import { copyText } from "../widgets/clipboard";
import { ClusterSign } from "../widgets/cluster/ClusterSign";
import { chooseFile } from "../widgets/importing/chosenFile";
import { go, type PageName, urlOf, useSearch } from "./address";
import { KEYS } from "./keys";
import { SaveItems } from "./SaveItems";
import { useCluster } from "./useCluster";

const SaveDialog = lazy(() => import("../boards/SaveDialog"));

const RATES = [LIVE_RATE, "5s", "15s", "1m", "5m"];

/** The right end of the head: the cluster, ask again, live, share, light or dark, keys. */
export function Tools(props: {
  query: Query | null;
  table?: TableStatus;
  now: number;
  commit: (next: Query) => void;
  again: () => void;
  help: () => void;
  palette: () => void;
  page: PageName;
  open: (page: PageName) => void;
}) {
  const { query, now, commit, again, help, page, open } = props;
  const atCluster = page === "cluster";
  const { data } = useCluster(atCluster);
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
      <ClusterSign
        cluster={data?.cluster}
        on={atCluster}
        onOpen={() => open(atCluster ? "query" : "cluster")}
      />
      <ToolButton
        label="Dashboards and saved views"
        icon={<IconLayoutDashboard size={17} />}
        on={page === "dashboards"}
        onClick={() => go("?page=dashboards")}
      />
      {query && (
        <>
          <ToolButton label="Refresh" icon={<IconRefresh size={17} />} onClick={again} />
          <Live query={query} now={now} commit={commit} />
          <Share query={query} range={rangeOf(query, now, props.table)} commit={commit} />
        </>
      )}
      <span className="wide-only">
        <ToolButton
          label="Functions"
          icon={<IconFunction size={17} />}
          on={page === "functions"}
          onClick={() => open(page === "functions" ? "query" : "functions")}
        />
      </span>
      <span className="wide-only">
        <ToolButton
          label="Import a file"
          icon={<IconFileImport size={17} />}
          onClick={chooseFile}
        />
      </span>
      <Scheme />
      <span className="wide-only">
        <ToolButton
          label="Commands and recent queries (Ctrl K)"
          icon={<IconHistory size={17} />}
          onClick={props.palette}
        />
      </span>
      <span className="wide-only">
        <ToolButton
          label="Keyboard shortcuts (?)"
          icon={<IconKeyboard size={17} />}
          onClick={help}
        />
      </span>
    </Group>
  );
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

function ToolButton(props: {
  label: string;
  icon: React.ReactNode;
  onClick?: () => void;
  on?: boolean;
}) {
  const { label, icon, onClick, on = false } = props;
  return (
    <Tooltip label={label} openDelay={400}>
      <ActionIcon
        variant={on ? "light" : "subtle"}
        color={on ? "teal" : "gray"}
        aria-label={label}
        aria-pressed={on}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

function Live(props: { query: Query; now: number; commit: (next: Query) => void }) {
  const { query, now, commit } = props;
  const on = query.refresh !== "";
  return (
    <Menu shadow="md" position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant={on ? "light" : "subtle"}
          color={on ? "teal" : "gray"}
          aria-label={
            on ? `Asks again every ${durationWords(query.refresh)}` : "Ask again by itself"
          }
        >
          {on ? <IconPlayerPause size={17} /> : <IconPlayerPlay size={17} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Auto-refresh</Menu.Label>
        {RATES.map((rate) => (
          <Menu.Item
            key={rate}
            onClick={() => commit(goLive(query, now, rate))}
            fw={rate === query.refresh ? 700 : 400}
          >
            every {durationWords(rate)}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => commit({ ...query, refresh: "" })} disabled={!on}>
          Off
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

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

const ShowAs = lazy(() => import("./ShowAs"));

/** Links and other spellings of what is on the page. */
function Share(props: { query: Query; range: Range | null; commit: (next: Query) => void }) {
  const { query, range, commit } = props;
  const [copied, copy] = useCopy();
  const [dialog, setDialog] = useState<"view" | "tile" | null>(null);
  const [showsAs, setShowsAs] = useState(false);
  const hasMain = useMainSpec() !== null;
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
          <Menu.Item onClick={() => setShowsAs(true)} disabled={!hasMain}>
            Show as SQL, JSON, curl, Python…
          </Menu.Item>
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

function Scheme() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme("light") === "dark";
  return (
    <ToolButton
      label={dark ? "Light" : "Dark"}
      icon={dark ? <IconSun size={17} /> : <IconMoon size={17} />}
      onClick={() => setColorScheme(dark ? "light" : "dark")}
    />
  );
}

/** The keys, on `?`. */
export function KeyHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="sm">
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {KEYS.map(([key, words]) => (
            <Table.Tr key={key}>
              <Table.Td className="nowrap">
                <Kbd>{key}</Kbd>
              </Table.Td>
              <Table.Td>{words}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
