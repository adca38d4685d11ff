import { Button, Group, Stack, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { keepToken } from "../api/client";

/** A server that other machines reach wants to know who asks. */
export function TokenForm({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        keepToken(token.trim());
        onDone();
      }}
    >
      <Stack>
        <Title order={2} fz="lg">
          This server needs a token
        </Title>
        <TextInput
          type="password"
          autoComplete="off"
          label="Token"
          description="It is in the file admin-token in the server's data folder. The browser keeps it for this tab only."
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" disabled={token.trim() === ""}>
            Enter
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
