// How long a person waits on the page: the first load, clicks, views, the mouse. A demo of ten
// million rows answers on this machine. Ends with 1 if a figure is missed or an answer was wrong.
// usage: node page.mjs [--rows N] [--rounds N] [--only PART]   with the program in HADAL_BINARY
// The page is the program's own. HADAL_PAGE=ui/dist measures that one instead, built by `make/page`;
// it is sent as it is: only the sizes in kB are then not those of gzip.
import { strict as assert } from "node:assert";
import { parseArgs } from "node:util";
import { startBrowser, startServer } from "../../tests/e2e/demo.mjs";
import { ask } from "../../tests/e2e/steps.mjs";
import { firstLoad } from "./load.mjs";
import { recordPaints } from "./painted.mjs";
import { filterClicks, groupClicks, mouseMoves, sampleClicks, timeClicks, viewSwitches } from "./steps.mjs";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    rounds: { type: "string", default: "10" },
    only: { type: "string", default: "" },
  },
});
const rounds = Number(options.rounds);

const server = await startServer("demo", "--rows", options.rows, "--seed", "1", "--no-browser");
const browser = await startBrowser();
let missed = 0;

/** Prints a figure, and whether it is more than what is promised. */
function figure(name, value, unit, most) {
  const over = value > most;
  if (over) missed++;
  console.log(`${name.padEnd(52)} ${value.toFixed(unit === "s" ? 2 : 0).padStart(7)} ${unit.padEnd(3)} at most ${most}${over ? "  MISSED" : ""}`);
}

/** The value below which so much of the samples is. */
function quantile(samples, share) {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

function figures(name, took, [p50, p95]) {
  if (p50) figure(`${name}, median of ${took.length}`, quantile(took, 0.5), "ms", p50);
  if (p95) figure(`${name}, p95 of ${took.length}`, quantile(took, 0.95), "ms", p95);
}

async function loaded() {
  for (;;) {
    const [[rows]] = await ask(server.direct, "SELECT raw_count(*) FROM requests").catch(() => [[0]]);
    if (rows >= Number(options.rows)) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** All parts by their names. */
const parts = {
  load: async () => {
    const loads = [];
    for (let round = 0; round < rounds; round++) loads.push(await firstLoad(browser, server.url, 1));
    const slow = [];
    for (let round = 0; round < Math.max(3, rounds / 3); round++) slow.push(await firstLoad(browser, server.url, 4));
    const median = (of, list) => quantile(list.map(of), 0.5);
    figure("scripts and styles of the first paint, gzip", median((it) => it.before, loads) / 1000, "kB", 300);
    figure("scripts and styles of the first load, gzip", median((it) => it.all, loads) / 1000, "kB", 450);
    figure("facets painted, median", median((it) => it.seconds, loads), "s", 0.8);
    figure("facets painted, a processor four times as slow", median((it) => it.seconds, slow), "s", 2.5);
  },
  clicks: async (given) => {
    const took = [];
    for (const clicks of [timeClicks, filterClicks, groupClicks]) {
      const some = await clicks(given);
      figures(`  ${clicks.name}`, some, [100, 300]);
      took.push(...some);
    }
    figures("click to another picture", took, [100, 300]);
  },
  samples: async (given) => figures("samples", await sampleClicks(given), [120]),
  views: async (given) => figures("another view of the same answer", await viewSwitches(given), [50]),
  mouse: async (given) => figures("work for a mouse move, 100 lines of 1,000 points", await mouseMoves(given), [, 33]),
};

try {
  await loaded();
  const [[last]] = await ask(server.direct, "SELECT max(time) FROM requests");
  // Whole minutes: addresses that a person reads.
  const now = Math.floor(Date.parse(last) / 60_000) * 60_000;
  for (const [name, part] of Object.entries(parts)) {
    if (!name.startsWith(options.only)) continue;
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "UTC" });
    await recordPaints(context);
    const page = await context.newPage();
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    await part({ page, url: server.url, server: server.direct, now, rounds });
    assert.deepEqual(wrong, []);
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
process.exitCode = missed > 0 ? 1 : 0;
