// The browser tests: starts a demo, uses it as a person would, and takes pictures on the way. Each
// test gets a new page. None sleeps: it waits for something that a person would see.
import { tests as accessibility } from "./accessibility.mjs";
import { tests as answers } from "./answers.mjs";
import { tests as boards } from "./boards.mjs";
import { tests as cluster } from "./cluster.mjs";
import { tests as contrast } from "./contrast.mjs";
import { pictures, startBrowser, startServer } from "./demo.mjs";
import { tests as derived } from "./derived.mjs";
import { tests as exporting } from "./exporting.mjs";
import { tests as exploring } from "./exploring.mjs";
import { tests as functions } from "./functions.mjs";
import { tests as home } from "./home.mjs";
import { tests as palette } from "./palette.mjs";
import { tests as retention } from "./retention.mjs";
import { tests as hostile } from "./hostile.mjs";
import { tests as importing } from "./importing.mjs";
import { tests as live } from "./live.mjs";
import { tests as marks } from "./marks.mjs";
import { tests as opening } from "./opening.mjs";
import { tests as sql } from "./sql.mjs";
import { tests as series } from "./series.mjs";
import { tests as succession } from "./succession.mjs";
import { tests as tables } from "./tables.mjs";
import { tests as units } from "./units.mjs";
import { tests as views } from "./views.mjs";

// Each test is a name and a person's actions.
const tests = [
  [opening, home, exploring, derived, palette, marks, views, series, units, exporting],
  [answers, tables, contrast, hostile, importing, retention, live, boards, functions],
  [cluster, succession, sql, accessibility],
].flat(2);

const wanted = process.argv[2] ?? "";
const demo = await startServer("demo", "--rows", "300000", "--seed", "1", "--no-browser");
const browser = await startBrowser();
let failed = 0;
let passed = 0;
for (const [name, test] of tests) {
  if (!name.includes(wanted)) continue;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    timezoneId: "UTC",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error on the page: ${error.message}`));
  page.on("console", (line) => line.type() === "error" && wrong.push(`console: ${line.text()}`));
  page.on("request", (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) wrong.push(`left this machine: ${request.url()}`);
  });
  try {
    await test({ page, url: demo.url, browser, context, wrong });
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    passed++;
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
    await page.screenshot({ path: `${pictures}/failed-${name.replaceAll(/\W+/g, "-")}.png` }).catch(() => {});
  }
  await context.close();
}
await browser.close();
await demo.stop();
console.log(`pictures are in ${pictures}`);
console.log(`test result: ${passed} passed; ${failed} failed;`);
process.exit(failed === 0 ? 0 : 1);
