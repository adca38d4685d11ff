// The home page: all tables, and the lines that send events.
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { freshFolder, startServer } from "./demo.mjs";
import { ask, drop, keys, log, open, picture, settled, STILL } from "./steps.mjs";

const home = (page) => page.getByTestId("home");
const line = (page, name) => page.getByTestId(`table-${name}`);

export const tests = [
  [
    "lists the tables on the home page, with what comes and what is wrong",
    async ({ page, url, wrong }) => {
      const body = '{"n": 1}\nnonsense\n';
      await fetch(`${url}/v1/log/home_spoiled`, { method: "POST", body, headers: { "Content-Type": "application/x-ndjson" } });
      // The journal is written within a second.
      await page.goto(`${url}/healthz`);
      await page.waitForFunction(async () => {
        const sql = "SELECT sum(rejected) FROM _ingest WHERE table = 'home_spoiled'";
        const answer = await fetch("/v1/query", { method: "POST", body: JSON.stringify({ sql }) });
        return answer.ok && (await answer.json()).rows[0]?.[0] > 0;
      });
      wrong.splice(0); // The browser notes that there was no journal at first.
      try {
        await open(page, `${url}/?${STILL}&view=table&by=service`);
        await page.getByRole("link", { name: "Hadal: home" }).click();
        await home(page).waitFor();
        assert.equal(keys(page).get("by"), "service", "the query stays in the address");
        await line(page, "requests").getByRole("img", { name: /^[\d,]+ events in the last hour$/ }).waitFor();
        const words = await line(page, "requests").innerText();
        assert.match(words, /[\d.]+ (k )?\/s/);
        assert.match(words, /30[\d.]* k/);
        assert.match(words, /[KM]iB/);
        assert.match(words, /30 days/);
        await line(page, "home_spoiled").getByLabel(/1 row rejected/).waitFor();
        assert.equal(await line(page, "_ingest").isVisible(), false);
        await page.getByText(/^Tables that Hadal keeps about itself/).click();
        await line(page, "_ingest").waitFor();
        await picture(page, "home");
        await page.keyboard.press("/");
        await page.keyboard.type("REQ");
        await line(page, "home_spoiled").waitFor({ state: "detached" });
        await page.keyboard.press("Enter");
        await settled(page);
        assert.equal(keys(page).get("table"), "requests");
        assert.equal(keys(page).get("page"), null);
        await page.goBack();
        await home(page).waitFor();
        await page.getByRole("button", { name: "Explore" }).click();
        await settled(page);
        assert.equal(keys(page).get("by"), "service");
      } finally {
        await drop(url, "home_spoiled");
      }
    },
  ],
  [
    "sorts the tables by any heading",
    async ({ page, url }) => {
      await log(url, "home_small", [{ a: 1 }]);
      try {
        await page.goto(`${url}/?page=home`);
        await home(page).waitFor();
        const names = () => home(page).locator("tbody a").filter({ visible: true }).allInnerTexts();
        assert.equal((await names()).at(-1), "home_small");
        await page.getByRole("button", { name: /^Rows/ }).first().click();
        assert.equal((await names())[0], "home_small");
        await page.getByRole("button", { name: /^Table/ }).first().click();
        const sorted = await names();
        assert.deepEqual(sorted, sorted.toSorted());
        await page.setViewportSize({ width: 390, height: 844 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
        await picture(page, "home-phone");
      } finally {
        await drop(url, "home_small");
      }
    },
  ],
  [
    "shows lines that send events from each language to this very server",
    async ({ page }) => {
      const folder = freshFolder();
      const server = await startServer("serve", "--data", folder.path);
      const run = (text) => execFileSync("sh", ["-c", text], { stdio: ["ignore", "pipe", "pipe"] }).toString();
      try {
        await page.goto(`${server.url}/?page=home`);
        await page.getByText("There is no table yet").waitFor();
        await page.getByText("Choose a file, or drop one here").waitFor();
        let sent = 0;
        for (const tab of ["curl", "Python", "JavaScript"]) {
          await page.getByRole("tab", { name: tab }).click();
          const answer = JSON.parse(run(await page.getByTestId("line").first().innerText()));
          assert.equal(answer.accepted, 1, tab);
          sent++;
          assert.deepEqual(await ask(server.url, "SELECT count(*), sum(depth_m), count(ok) FROM hello"), [[sent, sent * 10935, sent]]);
        }
        await line(page, "hello").waitFor();
        await page.getByRole("tab", { name: "OpenTelemetry" }).click();
        await picture(page, "home-send");
        run(await page.getByTestId("line").last().innerText());
        assert.deepEqual(await ask(server.url, "SELECT name, duration_ns FROM traces"), [["GET /cart", 500_000_000]]);
        // What the SDK for Node sends to the address that it is given.
        const variables = await page.getByTestId("line").first().innerText();
        const address = /TRACES_ENDPOINT=(\S+)/.exec(variables)[1];
        assert.equal(address, `${server.url}/v1/log/traces`);
        await page.getByRole("button", { name: /^Copy: Programs/ }).click();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), variables);
      } finally {
        await server.stop();
        folder.remove();
      }
    },
  ],
];
