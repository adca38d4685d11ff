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
  IconKeyboard,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconShare,
  IconSun,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bodyOf } from "../api/client";
import type { Answer, Table as TableStatus } from "../api/types";
import { durationWords } from "../base/duration";
import { useMainSpec } from "../explore/mainSpec";
import type { Query } from "../query/query";
import { goLive, type Range, rangeOf, withRange } from "../query/time";
import { copyText } from "../widgets/clipboard";
import { ClusterSign } from "../widgets/cluster/ClusterSign";
import { chooseFile } from "../widgets/importing/chosenFile";
import { type PageName, urlOf } from "./address";
import { KEYS } from "./keys";
import { useCluster } from "./useCluster";

const RATES = ["5s", "15s", "1m", "5m"];

/** The right end of the head: the cluster, ask again, live, share, light or dark, keys. */
export function Tools(props: {
  query: Query | null;
  table?: TableStatus;
  now: number;
  commit: (next: Query) => void;
  again: () => void;
  help: () => void;
  page: PageName;
  open: (page: PageName) => void;
}) {
  const { query, now, commit, again, help, page, open } = props;
  const atCluster = page === "cluster";
  const { data } = useCluster(atCluster);
  const returns = atCluster || (page === "home" && window.location.search.includes("table="));
  return (
    <Group gap={4} wrap="nowrap" ml="auto">
      {returns && (
        <Button
          size="compact-sm"
          variant="default"
          mr={4}
          leftSection={<IconArrowLeft size={14} />}
          onClick={() => open("query")}
        >
          Explore
        </Button>
      )}
      <ClusterSign
        cluster={data?.cluster}
        on={atCluster}
        onOpen={() => open(atCluster ? "query" : "cluster")}
      />
      {query && (
        <>
          <ToolButton label="Refresh" icon={<IconRefresh size={17} />} onClick={again} />
          <Live query={query} now={now} commit={commit} />
          <Share query={query} range={rangeOf(query, now, props.table)} />
        </>
      )}
      <ToolButton label="Import a file" icon={<IconFileImport size={17} />} onClick={chooseFile} />
      <Scheme />
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

/** Links and other spellings of what is on the page. */
function Share({ query, range }: { query: Query; range: Range | null }) {
  const [copied, copy] = useCopy();
  const link = (shared: Query) => copy(`${window.location.origin}/${urlOf(shared)}`);
  const fixed = () => range && link({ ...withRange(query, range), bucket: query.bucket });
  return (
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
        <Menu.Divider />
        <Spellings copy={copy} />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The main query of the view in other languages; in SQL as its answer spells it. */
function Spellings({ copy }: { copy: (text: string) => void }) {
  const spec = useMainSpec();
  const { data } = useQuery<Answer>({ queryKey: ["answer", spec], enabled: false });
  const sql = data?.sql;
  const body = spec && bodyOf(spec);
  const curl = () =>
    `curl ${window.location.origin}/v1/query -d '${body?.replaceAll("'", "'\\''")}'`;
  return (
    <>
      <Menu.Item onClick={() => copy(sql ?? "")} disabled={!sql}>
        Copy as SQL
      </Menu.Item>
      <Menu.Item onClick={() => copy(body ?? "")} disabled={!body}>
        Copy as JSON
      </Menu.Item>
      <Menu.Item onClick={() => copy(curl())} disabled={!body}>
        Copy as curl
      </Menu.Item>
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
