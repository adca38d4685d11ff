// What a person does on the page, timed. Every answer's number of rows is compared with SQL's.
import { strict as assert } from "node:assert";
import { ask, menu, rowsBehind, view } from "../../tests/e2e/steps.mjs";
import { paintedAfter } from "./painted.mjs";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A range of so many milliseconds that ended so many before `now`, as a part of an address. */
function range(now, ago, length) {
  const [from, to] = [now - ago - length, now - ago].map((time) => new Date(time).toISOString());
  return `from=${from}&to=${to}`;
}

/** Opens an address and waits for its pictures. */
async function open(page, address) {
  await page.goto(address);
  await paintedAfter(page);
}

/** Clicks, and waits for the picture of another query; the milliseconds that it took. */
async function timed(page, target) {
  const before = page.url();
  await target.click();
  const took = await paintedAfter(page);
  assert.notEqual(page.url(), before, "the click changed nothing");
  assert.equal(await page.getByRole("alert").count(), 0, "the answer has a problem");
  return took;
}

/** The rows behind the picture are those that SQL counts in the address's range and filter. */
async function checkRows(page, server, condition = "true") {
  const keys = new URL(page.url()).searchParams;
  const times = `time >= '${keys.get("from")}' AND time < '${keys.get("to")}'`;
  const [[rows]] = await ask(server, `SELECT raw_count(*) FROM requests WHERE ${times} AND ${condition}`);
  assert.equal(await rowsBehind(page), rows);
}

/** Clicks that change the time, with a group and a measure: lines, tables, bars. */
export async function timeClicks({ page, url, server, now, rounds }) {
  const took = [];
  for (const kind of ["time", "table", "bar"]) {
    const shown = `by=service&show=count(*)&show=p95(latency_us)`;
    await open(page, `${url}/?table=requests&view=${kind}&${shown}&${range(now, 0, 6 * HOUR)}`);
    for (let round = 0; round < rounds; round++) {
      took.push(await timed(page, page.getByRole("button", { name: "Earlier" })));
    }
    await checkRows(page, server);
  }
  return took;
}

/** Clicks that change the filter: "Filter to this" of a bar. */
export async function filterClicks({ page, url, server, now, rounds }) {
  const took = [];
  const values = await ask(server, "SELECT service, count(*) FROM requests WHERE service IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 100");
  for (let round = 0; round < rounds; round++) {
    const [value] = values[round % values.length];
    await open(page, `${url}/?table=requests&view=bar&by=service&${range(now, round * HOUR, 2 * DAY)}`);
    await page.getByTestId("view").getByRole("button", { name: new RegExp(`^${value}: `) }).click();
    took.push(await timed(page, menu(page, "Filter to this")));
    await checkRows(page, server, `service = '${value}'`);
  }
  return took;
}

/** Clicks that change the group: the facets of the overview. */
export async function groupClicks({ page, url, server, now, rounds }) {
  const took = [];
  for (let round = 0; round < rounds; round++) {
    await open(page, `${url}/?table=requests&${range(now, round * HOUR, 2 * DAY)}`);
    const groups = page.getByTestId(/^facet-/).getByText("Group by");
    took.push(await timed(page, groups.nth(round % (await groups.count()))));
    await checkRows(page, server);
  }
  return took;
}

/** The first rows, asked for by a click on the view. */
export async function sampleClicks({ page, url, server, now, rounds }) {
  const took = [];
  for (let round = 0; round < rounds; round++) {
    await open(page, `${url}/?table=requests&view=time&by=service&${range(now, round * HOUR, 2 * DAY)}`);
    took.push(await timed(page, view(page, "Samples")));
    await checkRows(page, server);
  }
  return took;
}

/** Between two views that ask the same: no query is sent. */
export async function viewSwitches({ page, url, now, rounds }) {
  await open(page, `${url}/?table=requests&view=table&by=service&${range(now, DAY, 2 * DAY)}`);
  for (const name of ["Bars", "Table", "Shares", "Table"]) await timed(page, view(page, name));
  let asked = 0;
  const count = (request) => request.url().endsWith("/v1/query") && asked++;
  page.on("request", count);
  const took = [];
  for (let round = 0; round < rounds; round++) {
    for (const name of ["Bars", "Shares", "Table"]) took.push(await timed(page, view(page, name)));
  }
  page.off("request", count);
  assert.equal(asked, 0, "a view switch asked the server");
  return took;
}

/** The processor time of each move of the mouse over lines: script, styles and layout, in ms. */
export async function mouseMoves({ page, url, now, rounds }) {
  const length = 1000 * 60_000;
  const asked = `by=host&series=100&bucket=1m&${range(now, DAY, length)}`;
  await open(page, `${url}/?table=requests&view=time&${asked}`);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const work = async () => {
    const { metrics } = await cdp.send("Performance.getMetrics");
    const of = (name) => metrics.find((metric) => metric.name === name).value;
    return of("ScriptDuration") + of("LayoutDuration") + of("RecalcStyleDuration");
  };
  const plot = await page.getByTestId("view").getByRole("slider").first().boundingBox();
  const took = [];
  for (let move = 0; move < rounds * 10; move++) {
    const before = await work();
    const at = (move + 1) / (rounds * 10 + 1);
    await page.mouse.move(plot.x + plot.width * at, plot.y + plot.height * (0.2 + 0.6 * ((move * 7) % 10) / 10));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    took.push(1000 * ((await work()) - before));
  }
  await cdp.detach();
  return took;
}
