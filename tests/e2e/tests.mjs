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

/** So many days ago, to the second. */
const daysAgo = (days) => new Date(Math.floor(Date.now() / 1000 - days * 86_400) * 1000).toISOString();
const [FROM, TO] = [daysAgo(2), daysAgo(1)];
/** A closed range of the demo, so that live events do not move under a test. */
const STILL = `table=requests&from=${FROM}&to=${TO}`;
const IN_STILL = `time >= '${FROM}' AND time < '${TO}'`;

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
  [
    "says since when nobody answers, and goes on by itself",
    async ({ page, url, wrong }) => {
      await open(page, `${url}/?table=processes&view=time&from=-5m&refresh=1s`);
      await page.route("**/v1/**", (route) => route.abort());
      await page.getByText(/No answer since \d\d:\d\d:\d\d/).waitFor();
      await page.getByRole("img", { name: /events/i }).waitFor();
      assert.equal(await corner(page).count(), 0);
      await picture(page, "silent");
      await page.unroute("**/v1/**");
      await corner(page).waitFor();
      assert.equal(await page.getByText(/No answer since/).count(), 0);
      wrong.splice(0); // The browser notes the failures that this test is about.
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
    "takes back a search with one step, however it was typed",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=samples`);
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
    "keeps the opened row open while others come in",
    async ({ page, url }) => {
      await open(page, `${url}/?table=processes&view=samples&from=-5m&limit=5&refresh=1s`);
      await page.getByLabel("All of this row").nth(1).click();
      const detail = page.locator(".detail");
      const text = await detail.innerText();
      await page.waitForFunction(() => document.querySelector("tr.opened").rowIndex > 6);
      assert.equal(await detail.innerText(), text);
    },
  ],
  [
    "sorts a compared table by what changed",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=table&by=service&compare=7d`);
      await page.getByRole("button", { name: "change" }).click();
      await page.waitForURL(/order=change/);
      await settled(page);
      const changes = await page.locator("table.groups tbody tr:not(.few):not(.sums) td:nth-child(4)").allInnerTexts();
      const numbers = changes.filter((it) => it.endsWith("%")).map((it) => Number(it.replace("−", "-").replace(" %", "")));
      assert.ok(numbers.length > 5, changes.join(", "));
      assert.deepEqual(numbers, numbers.toSorted((a, b) => b - a));
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
      assert.equal(await rowsBehind(page), all - shown.reduce((sum, [, rows]) => sum + rows, 0));
    },
  ],
  [
    "answers the very range, however long the buckets are",
    async ({ page, url }) => {
      const to = new Date(Date.parse(FROM) + 5_400_000).toISOString();
      const [[rows]] = await ask(url, `SELECT raw_count(*) FROM requests WHERE time >= '${FROM}' AND time < '${to}'`);
      for (const more of ["bucket=1d", "bucket=1h", "bucket=1h&compare=1d&by=kind"]) {
        await open(page, `${url}/?table=requests&from=${FROM}&to=${to}&view=time&${more}`);
        assert.equal(await rowsBehind(page), rows, more);
      }
      await picture(page, "cut-buckets");
    },
  ],
  [
    "copies the query that is shown",
    async ({ page, url }) => {
      const copied = async (item) => {
        await page.getByRole("button", { name: "Share and copy" }).click();
        await menu(page, item).click();
        return page.evaluate(() => navigator.clipboard.readText());
      };
      await open(page, `${url}/?${STILL}&view=table`);
      await page.locator("#group-input").fill("service");
      await page.getByRole("option", { name: /service/ }).first().click();
      await page.waitForURL(/by=service/);
      await settled(page);
      assert.match(await copied("Copy as SQL"), /^SELECT service, count\(\*\)/);
      assert.deepEqual(JSON.parse(await copied("Copy as JSON")).query.group_by, ["service"]);
      await open(page, `${url}/?${STILL}&view=distribution&of=latency_us`);
      assert.match(await copied("Copy as SQL"), /histogram\(latency_us/);
    },
  ],
  [
    "says what of an address it cannot read, and keeps the address",
    async ({ page, url }) => {
      const address = `${url}/?table=requests&view=time&from=-999999999d&limit=2.5&filter=status+%3E+abc`;
      await open(page, address);
      const words = await page.getByTestId("unread").innerText();
      for (const part of [/from=-999999999d is not a time/, /limit=2\.5/, /“abc” is not a number/]) {
        assert.match(words, part);
      }
      assert.equal(page.url(), address);
      await picture(page, "unread");
      await view(page, "Table").click();
      await page.getByTestId("unread").waitFor({ state: "detached" });
    },
  ],
  [
    "shows a card instead of a white page when it fails",
    async ({ page, url, wrong }) => {
      await page.route("**/v1/query", (route) => route.fulfill({ json: { rows: [[1]] } }));
      await page.goto(`${url}/?${STILL}&view=time`);
      await page.getByText("The page came to a halt").waitFor();
      await picture(page, "halt");
      await page.unroute("**/v1/query");
      await page.getByRole("button", { name: "Start afresh" }).click();
      await settled(page);
      assert.equal(keys(page).get("view"), null);
      wrong.splice(0); // The fault that this test is about.
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
