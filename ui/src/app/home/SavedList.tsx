import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MouseEvent } from "react";
import type { Problem } from "../../api/client";
import {
  fetchDashboards,
  fetchSnapshots,
  fetchViews,
  type SnapshotSummary,
} from "../../api/documents";
import { visible } from "../../base/format";
import { timeText } from "../../base/zone";
import { snapshotWords, urlOfSnapshot } from "../../boards/snapshotWords";
import { go } from "../address";
import { useZone } from "../settings";

/** More names than this are on the page of dashboards. */
const NAMES_MAX = 24;

interface Saved {
  readonly name: string;
  readonly description?: string;
  readonly address: string;
}

/** The dashboards, by name; nothing while there are none. */
export function DashboardList() {
  const { data } = useQuery<Awaited<ReturnType<typeof fetchDashboards>>, Problem>({
    queryKey: ["dashboards"],
    queryFn: ({ signal }) => fetchDashboards(signal),
  });
  const address = (dashboard: string) =>
    `?${new URLSearchParams({ page: "dashboard", dashboard })}`;
  const saved = data?.dashboards.map((it) => ({ ...it, address: address(it.name) }));
  return <SavedList title="Dashboards" saved={saved ?? []} />;
}

/** The saved views, by name; nothing while there are none. */
export function ViewList() {
  const { data } = useQuery<Awaited<ReturnType<typeof fetchViews>>, Problem>({
    queryKey: ["saved-views"],
    queryFn: ({ signal }) => fetchViews(signal),
  });
  const saved = data?.map((it) => ({ ...it, address: `?${it.query}` }));
  return <SavedList title="Saved views" saved={saved ?? []} />;
}

/** The frozen answers, the newest first; nothing while there are none. */
export function SnapshotList() {
  const [zone] = useZone();
  const { data } = useQuery<SnapshotSummary[], Problem>({
    queryKey: ["snapshots"],
    queryFn: ({ signal }) => fetchSnapshots(signal),
  });
  const saved = data?.map((snapshot) => ({
    name: `${snapshotWords(snapshot)} (${timeText(Date.parse(snapshot.taken), zone).slice(0, 16)})`,
    address: urlOfSnapshot(snapshot.name),
  }));
  return <SavedList title="Frozen answers" saved={saved ?? []} />;
}

function SavedList({ title, saved }: { title: string; saved: readonly Saved[] }) {
  if (saved.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2} fz="md">
        {title}
      </Title>
      <Group gap="lg" align="baseline">
        {saved.slice(0, NAMES_MAX).map(({ name, description, address }) => (
          <Link key={address} address={address} title={description}>
            {visible(name)}
          </Link>
        ))}
        {saved.length > NAMES_MAX && <Link address="?page=dashboards">All {saved.length}</Link>}
      </Group>
    </Stack>
  );
}

function Link(props: { address: string; title?: string | undefined; children: React.ReactNode }) {
  const { address, title, children } = props;
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(address);
  };
  return (
    <Text size="sm" className="wrap" {...(title ? { title: visible(title) } : {})}>
      <Anchor href={address} onClick={follow}>
        {children}
      </Anchor>
    </Text>
  );
}
