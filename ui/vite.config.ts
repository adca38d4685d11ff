import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` asks a server that runs beside it.
const server = process.env.HADAL_URL ?? "http://127.0.0.1:4280";

export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/v1": { target: server, changeOrigin: true, headers: { origin: server } } } },
  build: {
    target: "es2022",
    // The first that know light-dark(), which must not be rewritten: Mantine sets the scheme.
    cssTarget: ["chrome123", "edge123", "firefox120", "safari17.5"],
    chunkSizeWarningLimit: 1500,
    assetsInlineLimit: 2048,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What the first picture needs is one file: a browser opens six connections at most.
            { name: "page", tags: ["$initial"] },
          ],
        },
      },
    },
  },
});
