// The retention of a table: which rows are deleted and when, and the settings for it.
import { strict as assert } from "node:assert";
import { freshFolder, startServer } from "./demo.mjs";
import { ask, drop, log, numberIn, open, picture } from "./steps.mjs";

const tab = (page) => page.getByRole("tab", { name: "Retention" });
const field = (page, name) => page.getByRole("textbox", { name, exact: true });
const strip = (page, words) => page.getByRole("img", { name: words });
const button = (page, name) => page.getByRole("tabpanel").getByRole("button", { name, exact: true });

/** Saves, and waits until it is said that it is. */
async function save(page) {
  await button(page, "Save").click();
  await page.getByRole("status").filter({ hasText: "Saved" }).waitFor();
}

/** A table whose rows are up to 20 days old, which is of any age by that, and its tab. */
async function openKept(page, url, name) {
  const rows = [...Array(21).keys()].map((days) => ({ time: new Date(Date.now() - days * 86_400_000).toISOString(), host: `h${days % 3}` }));
  await log(url, name, rows);
  await open(page, `${url}/?table=${name}&from=-30d`);
  await tab(page).click();
  await strip(page, /Rows of any age are kept/).waitFor();
}

const settingsOf = (url, table) => fetch(`${url}/v1/tables/${table}/settings`).then((response) => response.json());

/** Sets settings without the page. */
async function put(url, table, settings) {
  const { version } = await settingsOf(url, table);
  const body = JSON.stringify({ version, settings });
  const response = await fetch(`${url}/v1/tables/${table}/settings`, { method: "PUT", body });
  assert.ok(response.ok, await response.text());
}

const UNITS = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Bytes as the page writes them, with three digits. */
function bytesIn(text) {
  const [number, unit] = text.split(" ");
  return Number(number) * UNITS[unit];
}

/** The page tells a number to three digits. */
function assertNear(told, text, number) {
  assert.ok(Math.abs(bytesIn(text) - number) <= number * 0.005, `${told}: ${text} is not ${number}`);
}

export const tests = [
  [
    "tells as many rows and bytes as the row blocks of a table have",
    async ({ page, url }) => {
      await openKept(page, url, "weighed");
      // One block per batch; so few blocks are not merged.
      for (const batch of [1, 2, 3]) await log(url, "weighed", [...Array(1000).keys()].map((n) => ({ n: n * batch, host: `h${n * 7919}` })));
      await page.reload();
      await tab(page).click();
      const blocks = await fetch(`${url}/v1/tables/weighed/blocks`).then((response) => response.json());
      assert.ok(blocks.block_count > 1 && !blocks.more);
      assert.equal(blocks.bytes, blocks.blocks.reduce((sum, block) => sum + block.bytes, 0));
      const told = await page.getByRole("tabpanel").getByText(/ rows, /).innerText();
      const [, rows, size, most] = /^([\d,]+) rows, ([\d.]+ \w+) of ([\d.]+ \w+)$/.exec(told);
      assert.equal(numberIn(rows), blocks.rows);
      assertNear(told, size, blocks.bytes);
      assertNear(told, most, (await settingsOf(url, "weighed")).effective.bytes);
      await drop(url, "weighed");
    },
  ],
  [
    "shows what goes and when, and lets it be changed",
    async ({ page, wrong }) => {
      // A separate demo, since rows are deleted.
      const demo = await startServer("demo", "--rows", "20000", "--seed", "1", "--no-browser");
      try {
        await open(page, `${demo.url}/?table=requests`);
        await tab(page).click();
        await strip(page, /^Rows from .+ on\. Rows are deleted after 30 days\./).waitFor();
        const facts = await page.getByRole("tabpanel").innerText();
        assert.match(facts, /[\d,]+ rows, [\d.]+ [KM]iB of \d+ GiB/);
        assert.match(await page.getByTestId("next").innerText(), /30 days|expires/);
        assert.ok(await button(page, "Save").isDisabled());
        await picture(page, "retention");

        const age = field(page, "Age");
        assert.equal(await age.getAttribute("placeholder"), "30d");
        await age.fill("soon");
        await button(page, "Save").click();
        await page.getByText('"soon" is no age').waitFor();
        assert.equal(await age.getAttribute("aria-invalid"), "true");
        assert.ok(await age.evaluate((it) => it === document.activeElement));
        await picture(page, "retention-wrong");
        wrong.splice(0); // The browser notes the 400.

        await age.fill("7d");
        const note = page.getByTestId("sooner");
        await note.getByText(/^[\d,]+ rows would be deleted\.$/).waitFor();
        assert.match(await note.innerText(), /are deleted at once\. Deleted rows cannot be restored\./);
        await strip(page, /Rows before .+ have expired\. .*deleted after 7 days/).waitFor();
        await picture(page, "retention-sooner");
        await save(page);
        await note.waitFor({ state: "detached" });
        await page.reload();
        await tab(page).click();
        await strip(page, /Rows are deleted after 7 days/).waitFor();
        assert.equal(await age.inputValue(), "7d");
        assert.equal((await settingsOf(demo.url, "requests")).settings.age, "7d");

        await age.fill("");
        assert.ok(await button(page, "Save").isEnabled());
        await save(page);
        await page.reload();
        await tab(page).click();
        await strip(page, /Rows are deleted after 30 days/).waitFor();
        assert.equal(await age.inputValue(), "");
        assert.deepEqual((await settingsOf(demo.url, "requests")).settings, {});
        assert.ok((await ask(demo.url, "SELECT count(*) FROM requests"))[0][0] > 0);
      } finally {
        await demo.stop();
      }
    },
  ],
  [
    "tells who saves settings second, and keeps what they typed",
    async ({ page, url, wrong }) => {
      await openKept(page, url, "kept");
      const before = await settingsOf(url, "kept");
      // The page gets no new settings until `second` is set.
      let second = false;
      await page.route("**/kept/settings", async (route) => {
        if (route.request().method() !== "PUT") return second ? route.continue() : route.fulfill({ json: before });
        const response = await route.fetch();
        second = true;
        return route.fulfill({ response });
      });
      await field(page, "Cold after").fill("3d");
      await put(url, "kept", { age: "25d" });
      await button(page, "Save").click();
      await page.getByText("The settings were changed by someone else: age=25d.").waitFor();
      assert.equal(await field(page, "Age").inputValue(), "25d");
      assert.equal(await field(page, "Cold after").inputValue(), "3d");
      await picture(page, "retention-second");
      wrong.splice(0); // The browser notes the 409.
      await save(page);
      assert.deepEqual((await settingsOf(url, "kept")).settings, { age: "25d", cold_after: "3d" });
      await drop(url, "kept");
    },
  ],
  [
    "undoes what was typed, and keeps it over a look at another tab",
    async ({ page, url }) => {
      await openKept(page, url, "undone");
      await field(page, "Sample after").fill("2d");
      await page.getByLabel("Sample by").fill("host");
      await page.getByRole("option", { name: /host/ }).click();
      await page.getByText("cannot be restored").waitFor();
      await page.getByRole("tab", { name: "Columns" }).click();
      await tab(page).click();
      assert.equal(await field(page, "Sample after").inputValue(), "2d");
      await page.getByRole("button", { name: "Remove host" }).waitFor();
      await button(page, "Undo").click();
      assert.equal(await field(page, "Sample after").inputValue(), "");
      assert.ok(await button(page, "Save").isDisabled());
      assert.ok(await page.getByRole("switch", { name: "Archive" }).isDisabled());
      await page.getByText("This server has none").waitFor();
      await drop(url, "undone");
    },
  ],
  [
    "asks for the admin token where the server wants one",
    async ({ page, url, wrong }) => {
      await openKept(page, url, "guarded");
      await page.route("**/guarded/settings", (route) => {
        const { method, headers } = { method: route.request().method(), headers: route.request().headers() };
        if (method !== "PUT" || headers.authorization === "Bearer sesame") return route.continue();
        const json = { type: "about:blank", title: "A token is needed", status: 401, detail: "the request has not the admin token" };
        return route.fulfill({ status: 401, json });
      });
      await field(page, "Bytes").fill("2GB");
      await button(page, "Save").click();
      await page.getByText("this server needs the admin token").waitFor();
      await picture(page, "retention-token");
      wrong.splice(0); // The browser notes the 401.
      await page.getByLabel("Token").fill("sesame");
      await button(page, "Enter").click();
      await page.getByRole("status").filter({ hasText: "Saved" }).waitFor();
      assert.equal((await settingsOf(url, "guarded")).settings.bytes, 2_000_000_000);
      await drop(url, "guarded");
    },
  ],
  [
    "has rows archived before they go, where the server can",
    async ({ page }) => {
      const [data, archive] = [freshFolder(), freshFolder()];
      const server = await startServer("serve", "--data", data.path, "--archive", archive.path);
      try {
        await openKept(page, server.url, "archived");
        await page.getByText(`Writes rows to ${archive.path} before deleting them`).waitFor();
        await page.getByRole("switch", { name: "Archive" }).click();
        await field(page, "Age").fill("7d");
        await page.getByText("The archive gets these rows first.").waitFor();
        await save(page);
        assert.deepEqual((await settingsOf(server.url, "archived")).settings, { age: "7d", archive: true });
        await picture(page, "retention-archived");
        await page.getByRole("switch", { name: "Archive" }).click();
        // The last rows of a table wait for ten minutes before they are archived.
        await page.getByTestId("sooner").getByText(/^1[34] rows would be deleted\.$/).waitFor();
        await page.getByText(/are deleted at once\. Deleted rows are no longer archived\. Deleted rows cannot be restored\./).waitFor();
        await picture(page, "retention-unarchived");
      } finally {
        await server.stop();
        data.remove();
        archive.remove();
      }
    },
  ],
  [
    "shows what a table keeps on a phone, light and dark",
    async ({ page, url }) => {
      await openKept(page, url, "small");
      await put(url, "small", { age: "30d", cold_after: "3d", sample_after: "10d", sample_by: ["host"], sample_keep: "1/100" });
      await page.reload();
      await tab(page).click();
      await strip(page, /cold after 3 days.+one in 100 is kept after 10 days/).waitFor();
      await picture(page, "retention-limits");
      await page.getByRole("button", { name: "Dark" }).click();
      await picture(page, "retention-dark");
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole("button", { name: "Query panel" }).click();
      await strip(page, /cold after/).waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
      await picture(page, "retention-phone-dark");
      await drop(url, "small");
    },
  ],
];
