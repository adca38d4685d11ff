// What a person does on the page, one test for each. Found by what is read and named on the page
// (roles, labels), so that a page that a screen reader cannot use fails here.
import { strict as assert } from "node:assert";
import { freshFolder, pictures, startServer } from "./demo.mjs";

const picture = (page, name) => page.screenshot({ path: `${pictures}/${name}.png` });

/** Waits until every view on the page has its answer and drew it. */
async function settled(page) {
  await page.getByTestId("view").first().waitFor();
  await page.waitForFunction(() => {
    const views = [...document.querySelectorAll("[data-testid=view]")];
    return views.length > 0 && views.every((it) => it.dataset.busy === "false") && !document.querySelector(".mantine-Skeleton-root");
  });
}

async function open(page, address) {
  await page.goto(address);
  await settled(page);
}

const view = (page, name) => page.getByRole("radiogroup", { name: "View" }).getByText(name, { exact: true });
const keys = (page) => new URL(page.url()).searchParams;
const menu = (page, item) => page.getByRole("menuitem", { name: item, exact: true });
const corner = (page) => page.getByTestId("coverage").first();

/** The number of rows that the corner tells. */
async function rowsBehind(page) {
  await settled(page);
  const text = await corner(page).innerText();
  return Number(/([\d,]+) rows/.exec(text)?.[1].replaceAll(",", ""));
}

/** What the same question gets when it is asked without the page. */
async function ask(url, sql) {
  const response = await fetch(`${url}/v1/query`, { method: "POST", body: JSON.stringify({ sql }) });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer.rows;
}

/** A closed range of the demo, so that live events do not move under a test. */
const STILL = "table=requests&from=now-2d&to=now-1d";

export const tests = [
  [
    "opens on data, without a question asked",
    async ({ page, url }) => {
      await open(page, url);
      assert.equal(keys(page).get("table"), "requests");
      assert.ok((await rowsBehind(page)) > 1000);
      await page.getByTestId("facet-service").waitFor();
      await page.getByRole("img", { name: /events/i }).first().waitFor();
      assert.match(await corner(page).innerText(), /100 % of rows/);
      await picture(page, "overview-light");
      await page.getByRole("button", { name: "Dark" }).click();
      await picture(page, "overview-dark");
    },
  ],
  [
    "the corner tells what the answer rests on",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table`);
      const [[rows]] = await ask(
        url,
        `SELECT raw_count(*) FROM requests WHERE time >= '${await bound(page, "from")}' AND time < '${await bound(page, "to")}'`,
      );
      assert.equal(await rowsBehind(page), rows);
      await corner(page).click();
      await page.getByText("Row blocks skipped").waitFor();
      await page.getByText("leaf-0").waitFor();
      await picture(page, "coverage");
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
      await menu(page, "Only").click();
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
    "compares with last week",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=time&by=kind`);
      await page.getByLabel("Compare", { exact: true }).click({ force: true });
      await page.waitForURL(/compare=7d/);
      await settled(page);
      await page.getByRole("columnheader", { name: "change" }).waitFor();
      await picture(page, "compare");
      await view(page, "Table").click();
      await settled(page);
      assert.match(await page.getByRole("row", { name: /server/ }).innerText(), /[+−]\d/);
      await picture(page, "compare-table");
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
      await page.getByLabel("All of this row").first().click();
      await picture(page, "samples");
    },
  ],
  [
    "draws a distribution, two-sided when compared",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=distribution&of=latency_us`);
      await page.getByRole("img", { name: /latency_us|distribution|values/i }).first().waitFor();
      await picture(page, "distribution");
      await open(page, `${url}/?${STILL}&view=distribution&of=latency_us&compare=7d`);
      await picture(page, "distribution-compare");
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
      await page.waitForURL(/filter=service/);
      assert.equal(keys(page).get("filter"), "service = gateway");
    },
  ],
  [
    "says what is wrong with a condition, and where",
    async ({ page, url, wrong }) => {
      await open(page, `${url}/?${STILL}&view=table&where=latency_us+%3E`);
      await page.getByRole("alert").waitFor();
      assert.match(await page.getByRole("alert").innerText(), /filter/);
      await picture(page, "problem");
      wrong.splice(0); // The browser notes the 400 that this test is about.
    },
  ],
  [
    "offers the way to the data where there is none",
    async ({ page, url }) => {
      await open(page, `${url}/?table=requests&from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z`);
      await page.getByTestId("empty").waitFor();
      await picture(page, "empty");
      await page.getByRole("button", { name: "Go to the data" }).click();
      assert.ok((await rowsBehind(page)) >= 300_000);
    },
  ],
  [
    "shows rows that come in, by itself",
    async ({ page, url }) => {
      await open(page, `${url}/?table=processes&view=table&from=-5m&refresh=1s`);
      const before = await rowsBehind(page);
      await page.waitForFunction(
        (rows) => Number(/([\d,]+) rows/.exec(document.querySelector("[data-testid=coverage]").innerText)?.[1].replaceAll(",", "")) > rows,
        before,
      );
    },
  ],
  [
    "stays usable on a phone",
    async ({ page, url }) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await open(page, `${url}/?${STILL}&view=time&by=service`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
      await picture(page, "phone");
      await page.getByRole("button", { name: "The question" }).click();
      await page.getByText("Group by", { exact: true }).first().waitFor();
      await picture(page, "phone-rail");
    },
  ],
  [
    "shows event data as text, whatever is in it",
    async ({ page, url }) => {
      const hostile = '<img src=x onerror="document.title=`taken`">';
      const response = await fetch(`${url}/v1/log/hostile`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify([1, 2, 3].map((n) => ({ name: `${hostile}${n}`, [hostile]: n, tags: [hostile] }))),
      });
      assert.ok(response.ok, await response.text());
      for (const name of ["overview", "samples", "time", "table"]) {
        await open(page, `${url}/?table=hostile&from=-1h&by=name&view=${name}`);
        await page.getByText("<img src=x").first().waitFor();
        await page.mouse.move(900, 300);
      }
      await picture(page, "hostile");
      assert.match(await page.title(), /hostile/);
      await fetch(`${url}/v1/tables/hostile`, { method: "DELETE" });
    },
  ],
  [
    "starts with lines to copy, and turns to the first table",
    async ({ page }) => {
      const folder = freshFolder();
      const server = await startServer("serve", "--data", folder.path);
      try {
        await page.goto(server.url);
        await page.getByText("Nothing is logged here yet").waitFor();
        await picture(page, "start");
        const line = await page.getByTestId("line").first().innerText();
        const [, address, body] = /^curl (\S+) -d '(.*)'$/.exec(line);
        assert.ok(address.startsWith(server.url), address);
        assert.ok((await fetch(address, { method: "POST", body })).ok);
        await page.waitForURL(/table=hello/);
        assert.equal(await rowsBehind(page), 1);
      } finally {
        await server.stop();
        folder.remove();
      }
    },
  ],
];

/** The moment that the page asked from or to, by its link to a fixed time. */
async function bound(page, key) {
  await page.getByRole("button", { name: "Share and copy" }).click();
  await menu(page, "Copy link to this fixed time").click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  return new URL(link).searchParams.get(key);
}
