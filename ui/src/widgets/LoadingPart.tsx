import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";
import { loadNow, onPartFailure, type PartFailure, usePartFailure } from "../base/part";
import { tell } from "./notice";

const WORDS: Readonly<Record<PartFailure, string>> = {
  missing: "The server did not send it. The page keeps trying.",
  renewed: "The server has another version of the page by now. A reload keeps the address.",
};

/** How many parts of the page have a place in which to say that they do not come. */
let places = 0;

/** In the place of a part of the page: `children` while it is loaded, or why it does not come. */
export function LoadingPart({ children }: { children: ReactNode }) {
  const failure = usePartFailure();
  useEffect(() => {
    places++;
    return () => {
      places--;
    };
  }, []);
  if (failure === null) return children;
  return (
    <Alert
      color="gray"
      role="alert"
      icon={<IconPlugConnectedX />}
      title="This part of the page could not be loaded"
    >
      <Stack gap="xs">
        <Text size="sm">{WORDS[failure]}</Text>
        <Group gap="xs">
          {failure === "missing" && (
            <Button size="xs" variant="default" onClick={loadNow}>
              Retry now
            </Button>
          )}
          <Button
            size="xs"
            variant={failure === "renewed" ? "filled" : "default"}
            onClick={() => window.location.reload()}
          >
            Reload the page
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

/** Says of a menu or a dialog, which has no place of its own yet, that it could not be loaded. */
export function usePartNotice(): void {
  useEffect(
    () =>
      onPartFailure((failure) => {
        if (places > 0) return;
        const why =
          failure === "renewed"
            ? "the server has another version of it. Reload the page."
            : "the server did not send it. The page keeps trying.";
        tell(`A part of the page could not be loaded: ${why}`, true);
      }),
    [],
  );
}
