// Files, tables to paste and pictures of answers.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { ask, IN_STILL, menu, open, picture, settled, STILL, view } from "./steps.mjs";

/** Chooses an entry of the menu Export; resolves to the file's name and bytes. */
async function saved(page, item, before = async () => {}) {
  await page.getByRole("button", { name: "Export", exact: true }).first().click();
  await before();
  const [file] = await Promise.all([page.waitForEvent("download"), menu(page, item).click()]);
  await page.locator(".notice").getByText(/^Saved/).waitFor();
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

const notice = (page) => page.locator(".notice").innerText();
const PARQUET = "PAR1";

export const tests = [
  [
    "saves an answer in five formats, named by table, view and time",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=service&filter=service+!null`);
      const csv = await saved(page, "CSV");
      assert.match(csv.name, /^requests-table-\d{8}T\d{4}Z-\d{8}T\d{4}Z\.csv$/);
      const [head, first] = csv.bytes.toString().split("\n");
      assert.equal(head, "service,count(*)");
      const [[service, events]] = await ask(url, `SELECT service, count(*) AS n FROM requests WHERE ${IN_STILL} AND service IS NOT NULL GROUP BY service ORDER BY n DESC LIMIT 1`);
      assert.equal(first, `${service},${events}`);
      const rows = csv.bytes.toString().trimEnd().split("\n").length - 1;
      assert.match(await notice(page), new RegExp(`: ${rows} rows, `));
      const json = JSON.parse((await saved(page, "JSON")).bytes.toString());
      assert.deepEqual(json.rows[0], [service, events]);
      const [line] = (await saved(page, "JSON lines")).bytes.toString().split("\n");
      assert.deepEqual(JSON.parse(line), { service, "count(*)": events });
      assert.ok((await saved(page, "Arrow")).bytes.includes("service"));
      const parquet = (await saved(page, "Parquet")).bytes;
      assert.equal(parquet.subarray(0, 4).toString(), PARQUET);
      assert.equal(parquet.subarray(-4).toString(), PARQUET);
      assert.match(await notice(page), new RegExp(`: ${rows} rows, `));
    },
  ],
  [
    "says that a file was cut, and saves all rows when asked to",
    async ({ page, url }) => {
      const from = new Date(Date.now() - 25 * 3_600_000).toISOString();
      const to = new Date(Date.now() - 24 * 3_600_000).toISOString();
      await open(page, `${url}/?table=requests&from=${from}&to=${to}&view=samples&limit=10`);
      await saved(page, "JSON lines");
      assert.match(await notice(page), /: 10 rows, .*cut at this limit/);
      const all = await saved(page, "CSV", () => page.getByText("All rows").click());
      const [[stored]] = await ask(url, `SELECT raw_count(*) FROM requests WHERE time >= '${from}' AND time < '${to}'`);
      assert.match(await notice(page), new RegExp(`: ${stored.toLocaleString("en-US")} rows, `));
      assert.ok(all.bytes.length > stored * 50);
    },
  ],
  [
    "copies the table for a spreadsheet, and says that it did",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=service&filter=service+!null`);
      await page.getByRole("button", { name: "Export", exact: true }).click();
      await menu(page, "Copy table").click();
      await page.locator(".notice").getByText(/^Copied \d+ rows$/).waitFor();
      const kinds = await page.evaluate(async () => {
        const [item] = await navigator.clipboard.read();
        const text = async (type) => (await item.getType(type)).text();
        return { text: await text("text/plain"), html: await text("text/html") };
      });
      assert.match(kinds.text, /^service\tcount\(\*\)\n\S+\t\d+\n/);
      assert.match(kinds.html, /<table>.*<th>service<\/th>/s);
    },
  ],
  [
    "saves the picture of every view as SVG without HTML, and as PNG",
    async ({ page, url, context }) => {
      // A page without the rule against markup, which would not let a text be parsed.
      const reader = await context.newPage();
      for (const view of ["time&by=service", "bar&by=service", "pie&by=service", "distribution&of=latency_us", "heat&of=latency_us", "treemap&by=service", "flame", "map", "table&by=service", "sankey&by=service&by=datacenter"]) {
        await open(page, `${url}/?${STILL}&view=${view}`);
        const file = await saved(page, "SVG");
        const svg = file.bytes.toString();
        assert.match(svg, /^<svg xmlns/);
        assert.doesNotMatch(svg, /foreignObject|<script/);
        const sound = await reader.evaluate((text) => {
          const drawn = new DOMParser().parseFromString(text, "image/svg+xml");
          const shapes = drawn.querySelectorAll("path, rect, circle, image, line").length;
          return { shapes, error: drawn.querySelector("parsererror")?.textContent, words: drawn.documentElement.textContent };
        }, svg);
        assert.equal(sound.error, undefined, view);
        assert.ok(sound.shapes > 5, `${view}: ${sound.shapes} shapes`);
        assert.match(sound.words, /requests · /);
      }
      const png = (await saved(page, "PNG")).bytes;
      assert.equal(png.subarray(1, 4).toString(), "PNG");
      assert.ok(png.length > 5000);
      await picture(page, "export");
      // What is drawn there is no answer to a query.
      await open(page, `${url}/?${STILL}&view=why&filter=status+%3E%3D+500`);
      await page.getByRole("button", { name: "Export", exact: true }).click();
      await menu(page, "SVG").waitFor();
      assert.equal(await menu(page, "CSV").count(), 0);
    },
  ],
  [
    "brings a file to its end while the page asks again and shows another view",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=service`);
      let release = () => {};
      const held = new Promise((done) => { release = done; });
      await page.route("**/v1/query", async (route) => {
        if (route.request().headers().accept === "text/csv") await held;
        await route.continue();
      });
      await page.getByRole("button", { name: "Export", exact: true }).click();
      await menu(page, "CSV").click();
      const waiting = page.getByText(/^Waiting for requests-table/);
      await waiting.waitFor();
      const asked = page.waitForResponse((response) => response.url().endsWith("/v1/query"));
      await page.getByRole("button", { name: "Refresh" }).click();
      await asked;
      await settled(page);
      await view(page, "Bars").click();
      await settled(page);
      assert.ok(await waiting.isVisible());
      await picture(page, "export-waits");
      const [file] = await Promise.all([page.waitForEvent("download"), release()]);
      assert.match(file.suggestedFilename(), /^requests-table-.*\.csv$/);
      await page.locator(".notice").getByText(/^Saved requests-table/).waitFor();
      await waiting.waitFor({ state: "detached" });
    },
  ],
  [
    "cancels a file that is on its way, and says what goes wrong",
    async ({ page, url, wrong }) => {
      await open(page, `${url}/?${STILL}&view=table&by=service`);
      await page.getByRole("button", { name: "Export", exact: true }).click();
      await menu(page, "CSV").waitFor();
      let release = () => {};
      const held = new Promise((done) => { release = done; });
      await page.route("**/v1/query", async (route) => {
        await held;
        await route.abort().catch(() => {});
      });
      await menu(page, "CSV").click();
      await page.getByText(/^Waiting for requests-table/).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByText(/^Waiting for requests-table/).waitFor({ state: "detached" });
      release();
      await page.getByRole("button", { name: "Export", exact: true }).click();
      await menu(page, "Parquet").click();
      await page.getByRole("alert").getByText("The server does not answer").waitFor();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await page.locator(".incoming").waitFor({ state: "detached" });
      await page.unroute("**/v1/query");
      await settled(page);
      wrong.splice(0); // The browser notes the requests that this test breaks.
    },
  ],
];
