// A page that asks again by itself, and the order of its requests.
import { strict as assert } from "node:assert";
import { corner, open, picture, rowsBehind, STILL, view } from "./steps.mjs";

/**
 * In the page: answers to queries that have a text in them come as partial ones, and whole after
 * `release()`.
 */
function holdAnswers(text) {
  const real = window.fetch;
  let released;
  window.release = () => {
    const before = window.done;
    released = new Promise((done) => { window.done = done; });
    before?.();
  };
  window.release();
  window.fetch = async (path, options) => {
    if (path !== "/v1/query" || !options.body.includes(text)) return real(path, options);
    const headers = { ...options.headers, Accept: "application/json" };
    const answer = await (await real(path, { ...options, headers })).text();
    const event = (name) => new TextEncoder().encode(`event: ${name}\ndata: ${answer.replaceAll("\n", "")}\n\n`);
    const body = new ReadableStream({
      async start(stream) {
        stream.enqueue(event("partial"));
        await released;
        stream.enqueue(event("answer"));
        stream.close();
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
}

export const tests = [
  [
    "shows rows that come in, by itself",
    async ({ page, url }) => {
      await open(page, `${url}/?table=processes&view=table&from=-6h&refresh=1s`);
      const before = await rowsBehind(page);
      await page.waitForFunction(
        (rows) => Number(/([\d,]+) rows/.exec(document.querySelector("[data-testid=coverage]").innerText)?.[1].replaceAll(",", "")) > rows,
        before,
      );
    },
  ],
  [
    "keeps the opened row open while others come in",
    async ({ page, url }) => {
      await open(page, `${url}/?table=processes&view=samples&from=-5m&limit=5&refresh=1s`);
      await page.getByLabel("Row details").nth(1).click();
      const detail = page.locator(".detail");
      const text = await detail.innerText();
      await page.waitForFunction(() => document.querySelector("tr.opened").rowIndex > 6);
      assert.equal(await detail.innerText(), text);
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
    "says at once in another view that nobody answers, and keeps saying so",
    async ({ page, url, wrong }) => {
      await open(page, `${url}/?${STILL}&view=time`);
      await page.route("**/v1/**", (route) => route.abort("connectionrefused"));
      await view(page, "Samples").click();
      const said = page.getByText("The server does not answer");
      await said.waitFor({ timeout: 1000 });
      // As often as it asks again by itself.
      for (let asked = 0; asked < 5; asked++) {
        await page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/query"));
        assert.equal(await said.count(), 1);
      }
      await page.unroute("**/v1/**");
      await corner(page).waitFor();
      wrong.splice(0); // The browser notes the failures that this test is about.
    },
  ],
  [
    "asks once at each tick of a range that moves on",
    async ({ page, url }) => {
      // Chromium also calls some answers aborted that were read to their end.
      await page.addInitScript(() => {
        window.dropped = 0;
        const { abort } = AbortController.prototype;
        AbortController.prototype.abort = function (...reason) {
          window.dropped++;
          return abort.apply(this, reason);
        };
      });
      await open(page, `${url}/?table=requests&view=time&from=-5m&refresh=1s`);
      const ends = [];
      const before = await page.evaluate(() => window.dropped);
      page.on("request", (request) => {
        if (request.url().endsWith("/v1/query")) ends.push(JSON.parse(request.postData()).query.to);
      });
      while (ends.length < 4) await page.waitForResponse("**/v1/query");
      assert.deepEqual(ends, [...new Set(ends)]);
      assert.equal(await page.evaluate(() => window.dropped), before);
    },
  ],
  [
    "goes live with a key, and stops with it",
    async ({ page, url }) => {
      await open(page, `${url}/?table=requests&view=table&by=service&from=-5m`);
      await page.locator("#answer").focus();
      await page.keyboard.press(".");
      await page.waitForURL(/refresh=2s/);
      const ends = new Set();
      page.on("request", (request) => {
        if (request.url().endsWith("/v1/query")) ends.add(JSON.parse(request.postData()).query.to);
      });
      while (ends.size < 3) await page.waitForResponse("**/v1/query");
      await page.keyboard.press(".");
      await page.waitForURL((address) => !address.searchParams.has("refresh"));
    },
  ],
  [
    "draws the facets of the rows that are scanned by now",
    async ({ page, url }) => {
      await page.addInitScript(holdAnswers, '"group_by":["service"]');
      await page.goto(`${url}/?${STILL}&view=overview`);
      const facet = page.getByTestId("facet-service");
      await facet.locator(".facet").first().waitFor();
      assert.match(await facet.getAttribute("class"), /partial/);
      assert.doesNotMatch(await facet.innerText(), /%/, "a part has no share of the whole");
      assert.equal(await facet.getByRole("note").count(), 0, "the other rows are on their way");
      await page.evaluate(() => window.release());
      await facet.getByText("%").first().waitFor();
      assert.doesNotMatch(await facet.getAttribute("class"), /partial/);
    },
  ],
  [
    "draws the facets of numbers of the rows that are scanned by now",
    async ({ context, url }) => {
      // The percentiles, and then the bars between them.
      for (const text of ["percentile(latency_us, 1)", '"latency_us BETWEEN ']) {
        const page = await context.newPage();
        await page.addInitScript(holdAnswers, text);
        await page.goto(`${url}/?${STILL}&view=overview`);
        const facet = page.getByTestId("facet-latency_us");
        const part = facet.locator(".partial");
        await part.waitFor();
        if (text.startsWith("percentile")) assert.match(await part.innerText(), /p50 .* p95 /);
        else assert.ok((await part.getByRole("button").count()) > 3);
        await page.evaluate(() => window.release());
        await facet.locator(".mini-bars.fresh button").first().waitFor();
        assert.equal(await part.count(), 0);
        await page.close();
      }
    },
  ],
  [
    "draws first, and asks what the columns are like after that",
    async ({ page, url }) => {
      const asked = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      // No query is answered before the check: any answer may be the first that is drawn.
      let answer;
      const checked = new Promise((resolve) => (answer = resolve));
      await page.route("**/v1/query", async (route) => {
        await checked;
        await route.continue();
      });
      const first = page.waitForRequest("**/v1/query");
      await page.goto(`${url}/?${STILL}&view=time`);
      await first;
      await page.getByLabel("Loading").first().waitFor();
      const facts = "/v1/tables/requests/columns";
      assert.ok(!asked.includes(facts), asked.join(" "));
      const told = page.waitForRequest((request) => request.url().includes(facts));
      answer();
      await told;
    },
  ],
];
