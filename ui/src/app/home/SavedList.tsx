import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MouseEvent } from "react";
import type { Problem } from "../../api/client";
import { fetchDashboards, fetchViews } from "../../api/documents";
import { visible } from "../../base/format";
import { go } from "../address";

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

function SavedList({ title, saved }: { title: string; saved: readonly Saved[] }) {
  if (saved.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2} fz="md">
        {title}
      </Title>
      <Group gap="lg" align="baseline">
        {saved.slice(0, NAMES_MAX).map(({ name, description, address }) => (
          <Link key={name} address={address} title={description}>
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
