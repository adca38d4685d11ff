import "./mantineStyles";
import "./page.css";
import { createTheme, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "../api/client";
import { loadPainter } from "../charts/echart";
import { App } from "./App";
import { Boundary } from "./Boundary";
import { askFirst } from "./firstAnswers";
import { trustNoMarkup } from "./trusted";

const theme = createTheme({
  primaryColor: "blue",
  // The lightest on which white text can be read: 5.2:1.
  primaryShade: 8,
  components: {
    // Options are drawn when they are shown, not with every click.
    Combobox: { defaultProps: { keepMounted: false } },
    CloseButton: { defaultProps: { "aria-label": "Close" } },
    // The placeholder has no role that a menu may contain; without it the first item has the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
  defaultRadius: "sm",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  cursorType: "pointer",
});

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // A server that restarts is asked again; what it refuses, it would refuse again.
      retry: (failures, error) => error instanceof Problem && error.unreachable && failures < 3,
      refetchOnWindowFocus: false,
      // The server may well be on this machine: what the browser thinks of its network is no
      // matter.
      networkMode: "always",
    },
  },
});

// A page that is left waits for no answers: the server cancels their queries. A browser may keep
// the page, and show it again later.
window.addEventListener("pagehide", () => void client.cancelQueries());
window.addEventListener("pageshow", (event) => {
  if (event.persisted) void client.refetchQueries({ type: "active" });
});

/** How often, and how many times, the page looks for its first answers. */
const LOOK_MS = 20;
const LOOKS = 20;

/**
 * Resolves when the page is to be drawn without its first answers. Looks are counted, not
 * milliseconds, so that a busy processor is no reason.
 */
async function timeout(): Promise<void> {
  for (let look = 0; look < LOOKS; look++) await new Promise((next) => setTimeout(next, LOOK_MS));
}

function draw(): void {
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <QueryClientProvider client={client}>
          <Boundary>
            <App />
          </Boundary>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

trustNoMarkup();
const drawn = new AbortController();
void Promise.race([askFirst(client, drawn.signal), timeout()])
  .catch(() => undefined)
  .then(() => drawn.abort())
  .then(draw)
  .then(loadPainter);
