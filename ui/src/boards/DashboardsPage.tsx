import {
  Alert,
  Anchor,
  Button,
  FileButton,
  Group,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "../api/client";
import {
  type Dashboard,
  deleteView,
  fetchDashboards,
  fetchViews,
  putDashboard,
} from "../api/documents";
import { counted, visible } from "../base/format";
import type { Zone } from "../base/zone";
import { dashboardOfFile } from "../query/dashboard";
import { ProblemCard } from "../widgets/ProblemCard";
import classes from "./boards.module.css";
import { FrozenAnswers } from "./FrozenAnswers";
import { DASHBOARDS_KEY, VIEWS_KEY } from "./useDashboard";

const urlOfBoard = (name: string) =>
  `?${new URLSearchParams({ page: "dashboard", dashboard: name })}`;

/** All dashboards, saved views and frozen answers. */
export function DashboardsPage({ go, zone }: { go: (url: string) => void; zone: Zone }) {
  return (
    <Stack maw={1000} mx="auto" gap="xl" data-testid="dashboards">
      <Dashboards go={go} />
      <SavedViews go={go} />
      <FrozenAnswers go={go} zone={zone} />
    </Stack>
  );
}

function Dashboards({ go }: { go: (url: string) => void }) {
  const { data, error, refetch } = useQuery<Awaited<ReturnType<typeof fetchDashboards>>, Problem>({
    queryKey: DASHBOARDS_KEY,
    queryFn: ({ signal }) => fetchDashboards(signal),
  });
  const [problem, setProblem] = useState<string | null>(null);
  const create = async (dashboard: Dashboard) => {
    try {
      await putDashboard(dashboard, 0);
      go(urlOfBoard(dashboard.name));
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      setProblem(failure.conflicts ? `There is a dashboard ${dashboard.name}.` : failure.message);
    }
  };
  const importFile = async (file: File | null) => {
    if (!file) return;
    const dashboard = dashboardOfFile(await file.text());
    if (dashboard) await create(dashboard);
    else setProblem(`${file.name} has no dashboard: it needs a name and tiles, as an export has.`);
  };
  return (
    <Stack gap="sm" component="section" aria-label="Dashboards">
      <Group justify="space-between">
        <Title order={1} fz={22}>
          Dashboards
        </Title>
        <Group gap="xs">
          <FileButton accept="application/json,.json" onChange={(file) => void importFile(file)}>
            {(button) => (
              <Button {...button} size="xs" variant="default">
                Import a file
              </Button>
            )}
          </FileButton>
          <NewDashboard onCreate={(name) => void create({ name, tiles: [] })} />
        </Group>
      </Group>
      {problem && (
        <Alert color="red" role="alert" withCloseButton onClose={() => setProblem(null)}>
          {problem}
        </Alert>
      )}
      {error && <ProblemCard problem={error} onRetry={() => void refetch()} />}
      {data?.problems.map((words) => (
        <Alert key={words} color="orange" variant="outline" role="alert" title="A file is left out">
          {words}
        </Alert>
      ))}
      {data?.dashboards.length === 0 && (
        <Text c="dimmed">None yet. A dashboard shows several queries over the same time.</Text>
      )}
      {data && data.dashboards.length > 0 && (
        <Table className={classes.table} verticalSpacing="xs">
          <Table.Tbody>
            {data.dashboards.map(({ name, description, owner, tiles, file }) => (
              <Table.Tr key={name}>
                <Table.Td>
                  <Link href={urlOfBoard(name)} go={go}>
                    {name}
                  </Link>
                  <Text size="xs" c="dimmed" lineClamp={2}>
                    {description && visible(description)}
                  </Text>
                </Table.Td>
                <Table.Td>{owner && visible(owner)}</Table.Td>
                <Table.Td className="nowrap">{counted(tiles, "tile")}</Table.Td>
                <Table.Td>{file && `file ${visible(file)}`}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

function NewDashboard({ onCreate }: { onCreate: (name: string) => void }) {
  const [name, setName] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "") onCreate(name.trim());
      }}
    >
      <Group gap={4} wrap="nowrap">
        <TextInput
          size="xs"
          aria-label="Name of a new dashboard"
          placeholder="Name of a new dashboard"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button size="xs" type="submit" disabled={name.trim() === ""}>
          Create
        </Button>
      </Group>
    </form>
  );
}

function SavedViews({ go }: { go: (url: string) => void }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery<Awaited<ReturnType<typeof fetchViews>>, Problem>({
    queryKey: VIEWS_KEY,
    queryFn: ({ signal }) => fetchViews(signal),
  });
  const remove = async (name: string, version: number) => {
    await deleteView(name, version).catch(() => undefined);
    await client.invalidateQueries({ queryKey: VIEWS_KEY });
  };
  return (
    <Stack gap="sm" component="section" aria-label="Saved views">
      <Title order={2} fz={18}>
        Saved views
      </Title>
      {error && <ProblemCard problem={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && (
        <Text c="dimmed">None yet. “Save view…” is in Explore's menu for sharing.</Text>
      )}
      {data && data.length > 0 && (
        <Table className={classes.table} verticalSpacing="xs">
          <Table.Tbody>
            {data.map(({ name, description, owner, query, version }) => (
              <Table.Tr key={name}>
                <Table.Td>
                  <Link href={`?${query}`} go={go}>
                    {name}
                  </Link>
                  <Text size="xs" c="dimmed" lineClamp={2}>
                    {description && visible(description)}
                  </Text>
                </Table.Td>
                <Table.Td>{owner && visible(owner)}</Table.Td>
                <Table.Td ta="end">
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    aria-label={`Remove the view ${name}`}
                    onClick={() => void remove(name, version)}
                  >
                    Remove
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

function Link(props: { href: string; go: (url: string) => void; children: string }) {
  const { href, go, children } = props;
  return (
    <Anchor
      href={href}
      fw={600}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(href);
      }}
    >
      {visible(children)}
    </Anchor>
  );
}
