import { Button, Center, Code, Loader, NavLink, Paper, Stack, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fetchFunctions, type Problem } from "../api/client";
import type { VersionedFunction } from "../api/functions";
import { FUNCTIONS_KEY, FunctionForm } from "../widgets/functions/FunctionForm";
import { signatureOf } from "../widgets/functions/functionDraft";
import { ProblemCard } from "../widgets/ProblemCard";

/** The functions in JavaScript, to be read, defined, replaced and dropped. */
export default function FunctionsPage() {
  const { data, error, refetch } = useQuery<VersionedFunction[], Problem>({
    queryKey: FUNCTIONS_KEY,
    queryFn: ({ signal }) => fetchFunctions(signal),
  });
  return (
    <Stack maw={1100} mx="auto" gap="md">
      <Title order={1} fz={22}>
        Functions
      </Title>
      <Text size="sm" c="dimmed">
        Queries call them like built-in ones: <Code>SELECT stem(page), count(*) …</Code> They run
        beside the rows, in processes without files and network.
      </Text>
      {error && <ProblemCard problem={error} onRetry={() => void refetch()} />}
      {data ? (
        <Functions functions={data} />
      ) : (
        !error && (
          <Center mih="40vh">
            <Loader size="sm" aria-label="Loading" />
          </Center>
        )
      )}
    </Stack>
  );
}

function Functions({ functions }: { functions: VersionedFunction[] }) {
  const [name, setName] = useState<string | null>(functions[0]?.function.name ?? null);
  const shown = functions.find((it) => it.function.name === name) ?? null;
  return (
    <div className="functions">
      <Paper withBorder p="xs" component="nav" aria-label="Functions">
        {functions.map((it) => (
          <NavLink
            key={it.function.name}
            component="button"
            active={it === shown}
            label={it.function.name}
            description={`${signatureOf(it.function)}${it.function.kind === "aggregate" ? ", aggregate" : ""}`}
            onClick={() => setName(it.function.name)}
            styles={{ body: { overflowWrap: "anywhere" } }}
          />
        ))}
        {functions.length === 0 && (
          <Text size="sm" c="dimmed" p="xs">
            No function is defined yet.
          </Text>
        )}
        <Button
          mt="xs"
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => setName(null)}
        >
          New function
        </Button>
      </Paper>
      <Paper
        withBorder
        p="md"
        component="section"
        aria-label={shown?.function.name ?? "New function"}
      >
        <FunctionForm
          key={`${shown?.function.name ?? ""} ${shown?.version ?? 0}`}
          current={shown}
          onShow={setName}
        />
      </Paper>
    </div>
  );
}
