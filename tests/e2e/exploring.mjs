// How a person finds something: searching, filtering, grouping, and the way back.
import { strict as assert } from "node:assert";
import { startServer } from "./demo.mjs";
import { ask, drop, IN_STILL, keys, log, menu, open, picture, rowsBehind, settled, STILL, view } from "./steps.mjs";

/** The first value of a facet, and how its line reads. */
const topOf = (page, column) => page.getByTestId(`facet-${column}`).locator(".facet .name").first();

/** Whether the demo has all of its rows. */
async function isLoaded(url) {
  const { tables } = await (await fetch(`${url}/v1/tables`)).json();
  return tables.some(({ name, rows }) => name === "requests" && rows >= 3_000_000);
}

/** Opens a table that is drawn again by what a person does only: no statistics or rows come. */
async function openDrawn(page, url, table) {
  const rows = Array.from({ length: 50 }, (_, at) => ({ time: `2024-01-01T00:00:${10 + at}Z`, service: `s${at % 5}` }));
  await log(url, table, rows);
  await page.route("**/columns?*", () => {});
  await open(page, `${url}/?table=${table}&view=table&by=service&from=2024-01-01&to=2024-01-02`);
  // The answer is drawn before the fields beside it.
  await page.locator("#measure-input").waitFor();
  await page.route("**/v1/tables", () => {});
}

export const tests = [
  [
    "compares nothing where the view does not, and says so",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=samples`);
      const compare = page.getByRole("switch", { name: "Compare" });
      assert.ok(await compare.isDisabled());
      await page.getByText("Samples compares nothing.").waitFor();
      await picture(page, "samples-compare");
      await view(page, "Table").click();
      await settled(page);
      assert.ok(await compare.isEnabled());
    },
  ],
  [
    "cuts days and compares weeks as the clocks of the reader's zone do",
    async ({ url, browser, wrong }) => {
      const hours = [...Array(24).keys()];
      const rows = ["2024-03-26T", "2024-04-02T"].flatMap((day, week) =>
        hours.flatMap((hour) => {
          // Berlin is an hour ahead of UTC in the first week, and two in the second.
          const time = new Date(Date.parse(`${day}${String(hour).padStart(2, "0")}:30:00Z`) - (week + 1) * 3_600_000);
          return Array(hour + 1).fill({ time: time.toISOString(), hour });
        }),
      );
      await log(url, "clocks", rows);
      const context = await browser.newContext({ timezoneId: "Europe/Berlin" });
      const page = await context.newPage();
      page.on("pageerror", (error) => wrong.push(error.message));
      const asked = [];
      page.on("request", (request) => {
        const { query } = /v1\/query$/.test(request.url()) ? JSON.parse(request.postData()) : {};
        if (query?.bucket) asked.push(query);
      });
      const range = "from=2024-04-01T22:00:00Z&to=2024-04-02T22:00:00Z";
      await open(page, `${url}/?table=clocks&view=time&${range}&bucket=1h&compare=7d`);
      const query = asked.at(-1);
      assert.equal(query.time_zone, "Europe/Berlin");
      const answer = await fetch(`${url}/v1/query`, { method: "POST", body: JSON.stringify({ query }) }).then((it) => it.json());
      const of = (side) => answer.rows.filter((row) => row[0] === side).map((row) => row.slice(1).join(" ")).sort();
      assert.equal(of("now").length, 24);
      assert.deepEqual(of("now"), of("before"));
      await open(page, `${url}/?table=clocks&view=time&from=2024-03-26&to=2024-04-03&bucket=1d`);
      const days = asked.at(-1);
      assert.deepEqual([days.bucket, days.time_zone], ["1d", "Europe/Berlin"]);
      await context.close();
    },
  ],
  [
    "leads from home to the bad build in three clicks, with the range that it opens on",
    async ({ page }) => {
      // Of fewer rows than that, too few are errors to tell a fault from chance.
      const server = await startServer("demo", "--rows", "3000000", "--seed", "1", "--no-browser");
      try {
        await page.goto(server.url);
        while (!(await isLoaded(server.url))) {
          await page.waitForResponse((response) => response.url().endsWith("/v1/tables"));
        }
        await open(page, server.url);
        await page.getByTestId("headlines").getByText("error rate").click();
        await page.waitForURL(/show=avg/);
        await settled(page);
        await picture(page, "overview-errors");
        assert.equal(await topOf(page, "build").innerText(), "r4830");
        await topOf(page, "build").click();
        await menu(page, "Filter to this").click();
        await page.waitForURL(/filter=build/);
        await settled(page);
        await picture(page, "overview-bad-build");
        assert.equal(await topOf(page, "datacenter").innerText(), "fra2");
        assert.equal(await topOf(page, "service").innerText(), "checkout");
      } finally {
        await server.stop();
      }
    },
  ],
  [
    "shows in facets what changed since the previous period, and sorts by it",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&compare=previous`);
      const facet = page.getByTestId("facet-kind");
      await facet.locator(".change[data-direction]").first().waitFor();
      await page.getByRole("radiogroup", { name: "Sort the values by" }).getByText("change").click();
      await page.waitForURL(/order=change/);
      await settled(page);
      await facet.locator(".diverging").first().waitFor();
      await picture(page, "overview-compare");
    },
  ],
  [
    "draws nothing of the query panel and of the tools again when another view is shown",
    async ({ page, url }) => {
      await openDrawn(page, url, "drawn");
      // A component that is drawn again gives its elements new properties.
      const drawn = await page.evaluateHandle(() => {
        const kept = [".sidebar-tabs", "#time-input", "#filter-input", "#group-input", "#measure-input"];
        const more = ["#table-input", "#search-input", ".logo", "[aria-label='Refresh']"];
        return [...kept, ...more].map((selector) => {
          const element = document.querySelector(selector) ?? document.body;
          const key = Object.keys(element).find((it) => it.startsWith("__reactProps$"));
          return { selector, element, key, props: element[key] };
        });
      });
      await view(page, "Bars").click();
      await page.waitForURL(/view=bar/);
      await settled(page);
      const again = await drawn.evaluate((all) =>
        all.filter(({ element, key, props }) => !key || element[key] !== props).map(({ selector }) => selector),
      );
      assert.deepEqual(again, []);
      await drop(url, "drawn");
    },
  ],
  [
    "leaves the rows of a table as they are until another answer is there",
    async ({ page, url }) => {
      await openDrawn(page, url, "undrawn");
      const held = [];
      await page.route("**/v1/query*", (route) => held.push(route));
      const drawn = await page.evaluateHandle(() => {
        const rows = [...document.querySelectorAll("table.groups tbody tr:not(.sums)")];
        const key = Object.keys(rows[0]).find((it) => it.startsWith("__reactProps$"));
        return rows.map((row) => ({ row, key, props: row[key] }));
      });
      await page.getByRole("button", { name: "Earlier" }).click();
      await page.locator(".stale").waitFor();
      const counts = await drawn.evaluate((rows) => [rows.length, rows.filter(({ row, key, props }) => row[key] === props).length]);
      assert.deepEqual(counts, [5, 5]);
      await page.unroute("**/v1/query*");
      for (const route of held) await route.continue();
      await settled(page);
      await drop(url, "undrawn");
    },
  ],
  [
    "searches all columns, and marks what it found",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=samples`);
      const all = await rowsBehind(page);
      await page.getByLabel("Search all columns").fill("upstream");
      await page.getByLabel("Search all columns").press("Enter");
      await page.waitForURL(/search=upstream/);
      const found = await rowsBehind(page);
      assert.ok(found > 0 && found < all, `${found} of ${all}`);
      assert.match(await page.locator("mark").first().innerText(), /upstream/i);
      await picture(page, "search");
    },
  ],
  [
    "takes back a search with one step, however it was typed",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=samples`);
      // What is typed within two seconds is one step, however long this machine takes for it.
      await page.evaluate((now) => (Date.now = () => now), Date.now());
      const field = page.getByLabel("Search all columns");
      for (const text of ["up", "upst", "upstream"]) {
        await field.fill(text);
        await field.press("Enter");
        await page.waitForURL(new RegExp(`search=${text}$`));
      }
      await page.goBack();
      assert.equal(keys(page).get("search"), null);
      await page.waitForFunction(() => document.getElementById("search-input").value === "");
    },
  ],
  [
    "filters with completed values",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table`);
      await page.keyboard.press("/");
      await page.keyboard.type("servi");
      await page.getByRole("option", { name: /service/ }).first().waitFor();
      await page.keyboard.press("Enter");
      await page.getByLabel(/values? of service|service is/i).first().waitFor();
      await page.keyboard.type("gate");
      await page.getByRole("option", { name: /gateway/ }).first().waitFor();
      await picture(page, "completion");
      await page.getByRole("option", { name: /gateway/ }).first().click();
      await page.getByRole("button", { name: "Apply" }).click();
      await page.waitForURL(/filter=service/);
      assert.equal(keys(page).get("filter"), "service = gateway");
    },
  ],
  [
    "finds values by a part of them, and takes several ticked ones",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table`);
      await page.keyboard.press("/");
      await page.keyboard.type("endpoint");
      await page.keyboard.press("Enter");
      await page.keyboard.type("checkout");
      const options = page.getByRole("option", { name: /\/checkout\// });
      await options.nth(1).waitFor();
      await options.nth(0).click();
      await options.nth(1).click();
      await picture(page, "several-values");
      assert.equal(keys(page).get("filter"), null);
      await page.getByRole("button", { name: "Apply" }).click();
      await page.waitForURL(/filter=endpoint/);
      assert.match(keys(page).get("filter"), /^endpoint = \S*checkout\S*\|\S*checkout\S*$/);
    },
  ],
  [
    "loses no letter that is typed in haste, and gives the keys back",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table`);
      for (const text of ["/", "service", "checkout"]) {
        await page.keyboard.type(text);
        if (text !== "/") await page.keyboard.press("Enter");
      }
      await page.waitForURL(/filter=service/);
      assert.equal(keys(page).get("filter"), "service = checkout");
      await page.keyboard.press("/");
      await page.keyboard.type("timeout");
      await page.waitForURL(/search=timeout/);
      await page.keyboard.press("Escape");
      await page.keyboard.press("5");
      await page.waitForURL(/view=samples/);
    },
  ],
  [
    "takes a slash for one on keyboards that have it on Shift",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table`);
      const slash = { key: "/", code: "Digit7", shiftKey: true };
      await page.locator("body").dispatchEvent("keydown", slash);
      assert.equal(await page.evaluate(() => document.activeElement.id), "filter-input");
      await page.locator("#filter-input").dispatchEvent("keydown", slash);
      assert.equal(await page.evaluate(() => document.activeElement.id), "search-input");
    },
  ],
  [
    "groups by a column, filters by clicking, and goes back",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}`);
      await page.getByTestId("facet-service").getByText("Group by").click();
      await page.waitForURL(/by=service/);
      await settled(page);
      await page.getByRole("cell", { name: "gateway" }).waitFor();
      await picture(page, "series");
      const all = await rowsBehind(page);
      await page.getByRole("button", { name: "gateway", exact: true }).click();
      await picture(page, "menu");
      await menu(page, "Filter to this").click();
      await page.waitForURL(/filter=service/);
      const some = await rowsBehind(page);
      assert.ok(some > 0 && some < all, `${some} of ${all}`);
      await page.goBack();
      assert.equal(await rowsBehind(page), all);
      assert.equal(keys(page).get("filter"), null);
      await page.goForward();
      assert.equal(await rowsBehind(page), some);
    },
  ],
  [
    "excludes a value, and counts what is left",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=kind`);
      const all = await rowsBehind(page);
      await page.getByRole("button", { name: "client", exact: true }).click();
      await menu(page, "Exclude").click();
      await page.waitForURL(/filter=kind/);
      const left = await rowsBehind(page);
      assert.ok(left > 0 && left < all, `${left} of ${all}`);
      assert.equal(await page.getByRole("button", { name: "client", exact: true }).count(), 0);
      await picture(page, "table");
    },
  ],
  [
    "drills from a group to its samples",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=status`);
      await page.getByRole("button", { name: "503", exact: true }).click();
      await menu(page, "Samples").click();
      await page.waitForURL(/view=samples/);
      await settled(page);
      assert.match(keys(page).get("filter") ?? "", /^status = 503$/);
      await page.getByLabel("Row details").first().click();
      await picture(page, "samples");
    },
  ],
  [
    "a group's samples are the rows of that group, be it a list or all the others",
    async ({ page, url }) => {
      const table = `${url}/?${STILL}&view=table&by=tags&limit=5`;
      await open(page, table);
      const all = await rowsBehind(page);
      const [[everything]] = await ask(url, `SELECT raw_count(*) FROM requests WHERE ${IN_STILL}`);
      assert.equal(all, everything);
      for (const group of ["feature:1", "(empty)", "(none)"]) {
        await open(page, table);
        const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: group, exact: true }) });
        const rows = Number((await row.getByRole("cell").last().innerText()).replaceAll(",", ""));
        await row.getByRole("button").click();
        await menu(page, "Samples").click();
        await page.waitForURL(/view=samples/);
        assert.equal(await rowsBehind(page), rows, group);
        await open(page, table);
        await row.getByRole("button").click();
        await menu(page, "Exclude").click();
        await page.waitForURL(/filter=/);
        assert.equal(await rowsBehind(page), all - rows, group);
      }
      await open(page, `${url}/?${STILL}&view=time&by=service&series=3`);
      await page.getByRole("button", { name: "Other", exact: true }).click();
      await menu(page, "Samples").click();
      await page.waitForURL(/view=samples/);
      const shown = await ask(
        url,
        `SELECT service, raw_count(*) FROM requests WHERE ${IN_STILL} GROUP BY service ORDER BY count(*) DESC LIMIT 3`,
      );
      const kept = shown.reduce((sum, [, rows]) => sum + rows, 0);
      assert.equal(await rowsBehind(page), all - kept);
      await page.goBack();
      await page.getByRole("button", { name: "Other", exact: true }).click();
      await menu(page, "Exclude").click();
      await page.waitForURL(/where=/);
      assert.equal(await rowsBehind(page), kept);
    },
  ],
];
