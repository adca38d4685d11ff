// A demo server and a browser, for one run of the browser tests.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { servePage } from "./page-server.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { chromium } = createRequire(join(root, "ui/package.json"))("playwright-core");

const target = process.env.CARGO_TARGET_DIR ?? join(homedir(), ".cache/hadal/target");
/** The program to test; the one that `make test` builds unless HADAL_BINARY says another. */
const binary = process.env.HADAL_BINARY ?? join(target, "ci/hadal");
/** A folder with a built page, such as ui/dist, to be used instead of the program's own. */
const builtPage = process.env.HADAL_PAGE;

/** Where pictures go: out of the checkout. */
export const pictures = process.env.HADAL_PICTURES ?? join(homedir(), ".cache/hadal/pictures");
mkdirSync(pictures, { recursive: true });

/**
 * Starts `hadal` with arguments, on a free port unless they say another. Resolves to the address of
 * its page, the address that it listens on, and a way to end it.
 */
export async function startServer(...args) {
  const started = await startHadal(...args);
  // A successor on the same port has the page of its predecessor in front of it.
  const isSuccessor = args.includes("--listen");
  return { ...started, url: builtPage && !isSuccessor ? await servePage(builtPage, started.direct) : started.direct };
}

function startHadal(...args) {
  const listen = args.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
  const child = spawn(binary, [...args, ...listen], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, RUST_BACKTRACE: "1" },
  });
  const said = [];
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null) return resolve();
      child.once("exit", resolve);
      child.kill("SIGTERM");
    });
  return new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said.push(chunk.toString());
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said.join("")) ?? [];
      if (url) resolve({ direct: url, stop, said: () => said.join("") });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", (error) => reject(new Error(`${binary} does not start: ${error.message}`)));
    child.once("exit", (code) => reject(new Error(`${binary} ended with ${code}: ${said.join("")}`)));
  });
}

/** A fresh folder for a server's data, and a way to be rid of it. */
export function freshFolder() {
  const path = mkdtempSync(join(tmpdir(), "hadal-e2e-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function startBrowser() {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
