// Measures the page in a browser, on a demo: the first load, and the time from a change of the query
// until its picture is painted. Prints a table of milliseconds.
// usage: HADAL_BINARY=PROGRAM node bench/page.mjs [ROWS]
import { loadavg } from "node:os";
import { gzipSync } from "node:zlib";
import { startBrowser, startServer } from "../tests/e2e/demo.mjs";
import { settled } from "../tests/e2e/steps.mjs";

const rows = process.argv[2] ?? "10000000";
const ROUNDS = 8;

const demo = await startServer("demo", "--rows", rows, "--seed", "1", "--no-browser");
const browser = await startBrowser();
try {
  while (!/^ready/m.test(demo.said())) await new Promise((resolve) => setTimeout(resolve, 200));
  console.log(`${rows} rows; load of the machine ${loadavg()[0].toFixed(1)}`);
  await firstLoad();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const now = Date.now();
  const day = 86_400_000;
  const time = (ms) => new Date(ms).toISOString();
  const base = (from, to, more) => `?table=requests&from=${time(from)}&to=${time(to)}${more}`;
  // Every address is new, so that no answer is kept from an earlier one.
  let moment = 0;
  const span = () => [now - 2 * day - ++moment * 1000, now - day - moment * 1000];
  const still = (more) => base(...span(), more);
  await page.goto(`${demo.url}/${still("&view=time")}`);
  await settled(page);
  await repeat(page, "group", (round) => still(`&view=time&by=${["service", "region"][round % 2]}`));
  await repeat(page, "filter", (round) => still(`&view=time&filter=status+%3E%3D+${400 + round}`));
  await repeat(page, "time", () => still("&view=time"));
  await repeat(page, "samples", () => still("&view=samples"));
  await repeat(page, "table", () => still("&view=table&by=service"));
  const [from, to] = span();
  await repeat(page, "view, no new query", (round) =>
    base(from, to, `&by=service&view=${["bar", "pie"][round % 2]}`),
  );
} finally {
  await browser.close();
  await demo.stop();
}

/** A load with an empty cache: compressed bytes of scripts and styles, and when facets are painted. */
async function firstLoad() {
  const times = [];
  for (let round = 0; round < 3; round++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const files = [];
    page.on("response", (response) => {
      if (response.url().includes("/assets/")) files.push([performance.now(), response]);
    });
    const start = performance.now();
    await page.goto(demo.url);
    await settled(page);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    const painted = performance.now();
    times.push(painted - start);
    if (round === 0) {
      await page.waitForLoadState("networkidle");
      let [before, all] = [0, 0];
      for (const [at, response] of files) {
        const bytes = gzipSync(await response.body()).length;
        all += bytes;
        if (at < painted) before += bytes;
      }
      console.log(`scripts and styles: ${kb(before)} until facets are painted, ${kb(all)} in all`);
    }
    await context.close();
  }
  report("first load", times);
}

function kb(bytes) {
  return `${Math.round(bytes / 1000)} kB`;
}

/** Goes to addresses as the page's own links do; the first two only warm up. */
async function repeat(page, name, addressOf) {
  const times = [];
  for (let round = -2; round < ROUNDS; round++) {
    const took = await page.evaluate(change, addressOf(round + 2));
    if (round >= 0) times.push(took);
  }
  report(name, times);
}

/** In the page: changes the address, and waits until the new picture is painted. */
async function change(address) {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const start = performance.now();
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  const waits = "[data-busy=true], .stale, .mantine-Skeleton-root";
  do await frame();
  while (!document.querySelector("[data-testid=view]") || document.querySelector(waits));
  // A task after the frame begins when the frame is painted.
  await new Promise((resolve) => setTimeout(resolve));
  return performance.now() - start;
}

function report(name, times) {
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  console.log(`${name.padEnd(20)} p50 ${at(0.5).toFixed(0).padStart(5)}  p95 ${at(0.95).toFixed(0).padStart(5)}`);
}
