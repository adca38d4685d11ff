import { Button, Card, Center, Code, Group, Stack, Text, Title } from "@mantine/core";
import { IconBug } from "@tabler/icons-react";
import { Component, type ReactNode } from "react";

/** Around the page: a fault of its own shows what happened and the ways on, never a white page. */
export class Boundary extends Component<{ children: ReactNode }, { fault: string | null }> {
  override state = { fault: null };

  static getDerivedStateFromError(error: unknown) {
    return { fault: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }

  // Going back to another query is a way on as well.
  private readonly tryAgain = () => this.setState({ fault: null });

  override componentDidMount() {
    window.addEventListener("popstate", this.tryAgain);
  }

  override componentWillUnmount() {
    window.removeEventListener("popstate", this.tryAgain);
  }

  override render() {
    return this.state.fault === null ? this.props.children : <Fault words={this.state.fault} />;
  }
}

function Fault({ words }: { words: string }) {
  return (
    <Center mih="100vh" p="md">
      <Card withBorder shadow="sm" padding="lg" maw={520} w="100%" role="alert">
        <Stack gap="md">
          <Group gap="xs" wrap="nowrap">
            <IconBug size={22} aria-hidden />
            <Title order={1} fz="lg">
              The page crashed
            </Title>
          </Group>
          <Text size="sm">
            This is a bug in the page. The data and the server are not affected.
          </Text>
          <Code block className="wrap">
            {words.slice(0, 500)}
          </Code>
          <Group gap="xs">
            <Button size="xs" onClick={() => window.location.reload()}>
              Reload
            </Button>
            <Button
              size="xs"
              variant="default"
              onClick={() => window.location.assign(window.location.pathname)}
            >
              Reset the query
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            If the page crashes again after a reload, the query in the address may be the cause:
            reset it.
          </Text>
        </Stack>
      </Card>
    </Center>
  );
}
