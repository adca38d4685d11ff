// The page at first sight: on data, without data, on a phone, and its messages when it fails.
import { strict as assert } from "node:assert";
import { freshFolder, startServer } from "./demo.mjs";
import { corner, drop, FROM, keys, log, open, picture, rowsBehind, settled, STILL, TO, view } from "./steps.mjs";

export const tests = [
  [
    "opens on data, without a question asked",
    async ({ page, url }) => {
      await open(page, url);
      assert.equal(keys(page).get("table"), "requests");
      assert.ok((await rowsBehind(page)) > 1000);
      await page.getByTestId("facet-service").waitFor();
      await page.getByRole("img", { name: /events/i }).first().waitFor();
      assert.match(await corner(page).innerText(), /events, estimated from [\d,]+ rows/);
      await picture(page, "overview-light");
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const brightness = async () => Number(/\d+/.exec(await ground())[0]);
      assert.ok((await brightness()) > 200, await ground());
      await page.getByRole("button", { name: "Dark" }).click();
      await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
      assert.ok((await brightness()) < 60, await ground());
      await picture(page, "overview-dark");
    },
  ],
  [
    "names a tool beside the pointer that rests on it",
    async ({ page, url }) => {
      await open(page, url);
      const hint = page.getByRole("tooltip");
      await page.getByRole("button", { name: "Keyboard shortcuts (?)" }).hover();
      await hint.getByText("Keyboard shortcuts (?)", { exact: true }).waitFor();
      await page.getByRole("radiogroup", { name: "View" }).getByText("Table").hover();
      await hint.getByText(/^Table \(key 3\)/).waitFor();
      await view(page, "Table").click();
      await hint.waitFor({ state: "detached" });
    },
  ],
  [
    "opens a table of today on all of it, by a link that is not empty later",
    async ({ page, url }) => {
      const [first, last] = [120, 60].map((seconds) => new Date(Date.now() - seconds * 1000).toISOString());
      await log(url, "brief", [{ time: first, a: 1 }, { time: last, a: 2 }]);
      try {
        await open(page, `${url}/?table=brief`);
        assert.equal(keys(page).get("from"), "all");
        assert.equal(await rowsBehind(page), 2);
        // The same address an hour later, by the clock of the page and its server.
        await page.route("**/v1/**", async (route) => {
          const response = await route.fetch();
          const date = new Date(Date.now() + 3_600_000).toUTCString();
          await route.fulfill({ response, headers: { ...response.headers(), date } });
        });
        await page.reload();
        assert.equal(await rowsBehind(page), 2);
      } finally {
        await drop(url, "brief");
      }
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
    "stays usable on a phone",
    async ({ page, url }) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await open(page, `${url}/?${STILL}&view=time&by=service`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
      await picture(page, "phone");
      const line = page.getByTestId("query-line");
      await line.getByRole("button", { name: "requests", exact: true }).waitFor();
      await line.getByRole("button", { name: /^(Last|All|[A-Z][a-z]{2} \d)/ }).waitFor();
      await page.getByRole("button", { name: "Query panel" }).click();
      await page.getByText("Group by", { exact: true }).first().waitFor();
      await picture(page, "phone-sidebar");
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
    "says what of an address it cannot read, and keeps the address",
    async ({ page, url }) => {
      const address = `${url}/?table=requests&view=time&from=-999999999d&limit=2.5&filter=status+%3E+abc`;
      await open(page, address);
      const words = await page.getByTestId("ignored").innerText();
      for (const part of [/from=-999999999d is not a time/, /limit=2\.5/, /“abc” is not a number/]) {
        assert.match(words, part);
      }
      assert.equal(page.url(), address);
      await picture(page, "ignored");
      await view(page, "Table").click();
      await page.getByTestId("ignored").waitFor({ state: "detached" });
    },
  ],
  [
    "keeps what an address says that names no table",
    async ({ page, url }) => {
      await open(page, `${url}/?view=table&by=service&filter=status+%3E%3D+500&from=${FROM}&to=${TO}`);
      assert.equal(keys(page).get("table"), "requests");
      assert.equal(keys(page).get("view"), "table");
      assert.equal(keys(page).get("by"), "service");
      assert.equal(keys(page).get("filter"), "status >= 500");
      assert.equal(keys(page).get("from"), FROM);
      await page.getByRole("columnheader", { name: "service" }).waitFor();
    },
  ],
  [
    "says of an address that there is no such page, and that a bucket is too short",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=time&page=nosuch&bucket=1s`);
      const words = await page.getByTestId("ignored").innerText();
      assert.match(words, /page=nosuch is not a page/);
      assert.match(words, /bucket=1s is too short for this time range; 10m is used/);
      await picture(page, "ignored-page");
    },
  ],
  [
    "shows a card instead of a white page when it fails",
    async ({ page, url, wrong }) => {
      await page.route("**/v1/query", (route) => route.fulfill({ json: { rows: [[1]] } }));
      await page.goto(`${url}/?${STILL}&view=time`);
      await page.getByText("The page crashed").waitFor();
      await picture(page, "halt");
      await page.unroute("**/v1/query");
      await page.getByRole("button", { name: "Reset the query" }).click();
      await settled(page);
      assert.equal(keys(page).get("view"), null);
      wrong.splice(0); // The fault that this test is about.
    },
  ],
  [
    "waits for a view that the server does not send, and offers the newer page",
    async ({ page, url, wrong }) => {
      const chunk = "**/assets/TimeView-*.js";
      await page.route(chunk, (route) => route.abort());
      await open(page, `${url}/?${STILL}`);
      await view(page, "Time series").click();
      const alert = page.getByRole("alert").filter({ hasText: "This part of the page could not be loaded" });
      await alert.getByText("The page keeps trying").waitFor();
      await page.getByRole("radiogroup", { name: "View" }).waitFor();
      await picture(page, "part-missing");
      // A newer server has the page under other names.
      await page.route(`${url}/`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replaceAll(/-[\w-]{8}\.js/g, "-other000.js") });
      });
      await alert.getByRole("button", { name: "Retry now" }).click();
      await alert.getByText("another version of the page").waitFor();
      await picture(page, "part-renewed");
      const address = page.url();
      await page.unroute(`${url}/`);
      await page.unroute(chunk);
      await settled(page);
      assert.equal(await page.getByText("could not be loaded").count(), 0);
      assert.equal(page.url(), address);
      wrong.splice(0); // The browser notes what it could not load.
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
    "lets no text become markup or style",
    async ({ page, url, wrong }) => {
      await open(page, url);
      const taken = await page.evaluate(() => {
        const place = document.createElement("div");
        return ["", "text", "<b>markup</b>", "<style>* { display: none }</style>"].map((text) => {
          try {
            place.innerHTML = text;
            return true;
          } catch {
            return false;
          }
        });
      });
      assert.deepEqual(taken, [true, true, false, false]);
      const left = await page.evaluate(() => {
        document.body.setAttribute("style", "margin-left: 77px");
        return getComputedStyle(document.body).marginLeft;
      });
      assert.notEqual(left, "77px");
      wrong.splice(0); // The browser notes what it refused.
    },
  ],
];
