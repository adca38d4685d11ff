import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { Suspense, useEffect } from "react";
import type { Repair } from "../query/viewManifest";
import { LoadingPart } from "../widgets/LoadingPart";
import { useExplore } from "./context";

/** The view of the query, or why it cannot show these columns. */
export function ShownView() {
  const { resolved, views } = useExplore();
  const view = views.find(({ kind }) => kind === resolved.query.view.kind);
  if (!view) return null;
  const plan = view.plan(resolved);
  if ("spec" in plan) {
    return (
      <Suspense
        fallback={
          <LoadingPart>
            <Skeleton h={320} aria-label="Loading the view" />
          </LoadingPart>
        }
      >
        <view.component spec={plan.spec} />
      </Suspense>
    );
  }
  return <Misfit misfit={plan.misfit} repairs={plan.repairs ?? []} />;
}

/** Why a view cannot show the query, and what would help. */
function Misfit({ misfit, repairs }: { misfit: string; repairs: readonly Repair[] }) {
  const { loadStats, commit } = useExplore();
  // The best columns are known by their statistics.
  useEffect(loadStats, [loadStats]);
  return (
    <Stack align="center" gap="sm" py={48} data-testid="misfit">
      <Text c="dimmed" ta="center" className="wrap">
        {misfit}
      </Text>
      <Group justify="center" w="100%">
        {repairs.map(({ label, query }, at) => (
          <Button
            key={label}
            size="xs"
            maw="100%"
            title={label}
            variant={at === 0 ? "filled" : "default"}
            onClick={() => commit(query)}
          >
            {label}
          </Button>
        ))}
      </Group>
    </Stack>
  );
}
