// The page's answers, compared with the same queries without the page.
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  ask,
  bound,
  corner,
  drop,
  FROM,
  IN_STILL,
  keys,
  log,
  menu,
  numberIn,
  open,
  picture,
  rowsBehind,
  settled,
  STILL,
  TO,
  view,
  weekBefore,
} from "./steps.mjs";

/**
 * The same coverage without `rows` rows; each leaf lacks its share of them. For rows of leaves that
 * answered, the page repeats the query by itself after a second; for rows of late leaves it does not.
 */
function lacking(coverage, rows, outcome = "answered") {
  const share = rows / coverage.leaves.length;
  const leaves = coverage.leaves.map((leaf) => ({ ...leaf, outcome, rows_scanned: leaf.rows_expected - share }));
  const scanned = coverage.rows_expected - rows;
  return { ...coverage, rows_scanned: scanned, fraction: scanned / coverage.rows_expected, leaves };
}

/** The headers of a request for an answer that does not come in events. */
const asJson = (route) => ({ ...route.request().headers(), accept: "application/json" });

export const tests = [
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
    "grows by itself while rows come back after a start, and says how far it is",
    async ({ page, url }) => {
      // Intercepted, because a real start with so few rows is over too soon.
      let waiting = 0;
      await page.route("**/v1/query", async (route) => {
        const response = await route.fetch({ headers: asJson(route) });
        const answer = await response.json();
        await route.fulfill({ response, json: { ...answer, coverage: lacking(answer.coverage, waiting) } });
      });
      await page.route("**/v1/tables", async (route) => {
        const response = await route.fetch();
        const all = await response.json();
        for (const table of all.tables) Object.assign(table, waiting > 0 && { waiting_rows: waiting, state: "disk recovery" });
        await route.fulfill({ response, json: all });
      });
      await page.route("**/v1/status", async (route) => {
        const response = await route.fetch();
        const status = await response.json();
        if (waiting > 0) status.leaves[0].state = "disk recovery";
        await route.fulfill({ response, json: status });
      });
      waiting = 150_000;
      await open(page, `${url}/?${STILL}&view=table`);
      const said = page.getByRole("alert").filter({ hasText: "Incomplete" });
      await said.getByText(/150,000 rows .* the answer refreshes by itself/).waitFor();
      const bar = said.getByRole("progressbar", { name: "Restored rows" });
      const share = async () => Number(await bar.getAttribute("aria-valuenow"));
      const first = await share();
      assert.ok(first > 0 && first < 100, `${first}`);
      await corner(page).click();
      await page.getByText("Being restored after a restart (disk recovery)").waitFor();
      await page.getByRole("row", { name: "leaf-0 answered, disk recovery" }).waitFor();
      await picture(page, "growing");
      await page.keyboard.press("Escape");
      await page.getByRole("tab", { name: "Retention" }).click();
      await page.getByText("150,000 rows are being restored after a restart (disk recovery).").waitFor();
      await picture(page, "growing-retention");
      waiting = 50_000;
      await said.getByText(/^50,000 rows/).waitFor();
      assert.ok((await share()) > first);
      waiting = 0;
      await said.waitFor({ state: "detached" });
      assert.doesNotMatch(await corner(page).innerText(), /% of rows/);
    },
  ],
  [
    "draws no old counts as shares of a new measure",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}`);
      const facet = page.getByTestId("facet-service");
      await facet.getByText(/\d %$/).first().waitFor();
      const before = await facet.innerText();
      let release = () => {};
      const released = new Promise((done) => {
        release = done;
      });
      // The numbers of the head are there already; the facets wait.
      await page.route("**/v1/query", async (route) => {
        if (route.request().postData().includes("group_by")) await released;
        await route.continue();
      });
      await page.getByTestId("headlines").getByRole("button", { name: /error rate/i }).click();
      await page.locator("[data-testid=facet-service].stale").waitFor();
      await page.getByRole("button", { name: /error rate/i, pressed: true }).waitFor();
      assert.equal(await facet.innerText(), before);
      await picture(page, "old-facets");
      release();
      await settled(page);
      assert.notEqual(await facet.innerText(), before);
      await facet.getByText(/\d %$/).first().waitFor();
    },
  ],
  [
    "marks a facet whose answer lacks rows or came too late, and asks again",
    async ({ page, url, wrong }) => {
      let late = false;
      await page.route("**/v1/query", async (route) => {
        if (!route.request().postData().includes("group_by")) return route.continue();
        if (late) {
          const body = { type: "about:blank", title: "Too late", status: 504, detail: "there is no answer by the deadline" };
          return route.fulfill({ status: 504, json: body });
        }
        const response = await route.fetch({ headers: asJson(route) });
        const answer = await response.json();
        await route.fulfill({ response, json: { ...answer, coverage: lacking(answer.coverage, 300, "late") } });
      });
      await open(page, `${url}/?${STILL}`);
      const facet = page.getByTestId("facet-service");
      await facet.getByRole("note").getByText(/From 99\.\d+ % of the rows/).waitFor();
      const again = facet.getByRole("button", { name: "Ask again for service" });
      late = true;
      await again.click();
      await facet.getByRole("note").getByText("there is no answer by the deadline").waitFor();
      await picture(page, "marked-facets");
      await page.unroute("**/v1/query");
      await again.click();
      await facet.getByRole("note").waitFor({ state: "detached" });
      wrong.splice(0); // The browser notes the 504 that this test is about.
    },
  ],
  [
    "says of a facet what has values of another kind",
    async ({ page, url }) => {
      await log(url, "kinds", [1, 2, "n/a", null, 1, 2].map((score) => ({ score, name: "a" })));
      try {
        await open(page, `${url}/?table=kinds&from=-1h`);
        await page.getByTestId("facet-score").getByRole("note").getByText("(none) counts 1 row with score of another kind.").waitFor();
        await picture(page, "kinds");
      } finally {
        await drop(url, "kinds");
      }
    },
  ],
  [
    "leaves an answer alone that lacks rows for good",
    async ({ page, url }) => {
      const asked = new Map();
      await page.route("**/v1/query", async (route) => {
        const response = await route.fetch({ headers: asJson(route) });
        const answer = await response.json();
        const question = route.request().postData();
        asked.set(question, (asked.get(question) ?? 0) + 1);
        await route.fulfill({ response, json: { ...answer, coverage: lacking(answer.coverage, 9000) } });
      });
      await open(page, `${url}/?${STILL}&view=table`);
      const said = page.getByRole("alert").filter({ hasText: "9,000 rows" });
      await said.waitFor();
      // A query may run once more, in case rows were still arriving; the list of tables is
      // requested repeatedly.
      for (let lists = 0; lists < 3; lists++) {
        await page.waitForResponse((response) => response.url().endsWith("/v1/tables"));
      }
      for (const [question, times] of asked) assert.ok(times <= 2, `${times} times: ${question}`);
      assert.equal(await said.getByRole("progressbar").count(), 0);
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
    "compares with last week",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=time&by=kind`);
      await page.getByLabel("Compare", { exact: true }).click({ force: true });
      await page.waitForURL(/compare=previous/);
      await settled(page);
      await page.getByRole("columnheader", { name: "change" }).waitFor();
      await page.getByRole("combobox", { name: "Compare with" }).click();
      await page.getByRole("option", { name: "vs previous week" }).click();
      await page.waitForURL(/compare=7d/);
      await settled(page);
      await page.getByRole("columnheader", { name: "change" }).waitFor();
      await picture(page, "compare");
      await view(page, "Table").click();
      await settled(page);
      for (const kind of ["server", "client"]) {
        const [now, before] = [IN_STILL, weekBefore(FROM, TO)].map((time) =>
          ask(url, `SELECT count(*) FROM requests WHERE ${time} AND kind = '${kind}'`),
        );
        const [[[is]], [[was]]] = [await now, await before];
        const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: kind, exact: true }) });
        const cells = row.getByRole("cell");
        assert.equal(numberIn(await cells.nth(1).getAttribute("title")), is);
        assert.equal(numberIn(await cells.nth(2).getAttribute("title")), was);
        const percent = (100 * (is - was)) / was;
        const shown = (await cells.nth(3).innerText()).replace("−", "-");
        assert.equal(shown, `${percent >= 0.05 ? "+" : ""}${percent.toFixed(1).replace("-0.0", "0.0")} %`);
      }
      await picture(page, "compare-table");
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
    "draws a distribution, two-sided when compared",
    async ({ page, url }) => {
      await open(page, `${url}/?${STILL}&view=distribution&of=latency_us`);
      await page.getByRole("img", { name: /latency_us|distribution|values/i }).first().waitFor();
      await picture(page, "distribution");
      await open(page, `${url}/?${STILL}&view=distribution&of=latency_us&compare=7d`);
      await picture(page, "distribution-compare");
      // The numbers of both sides in a bar's tooltip equal those between its ends.
      const bars = page.getByRole("slider", { name: "Values, by size" });
      const { width, height } = await bars.boundingBox();
      const position = { x: width * 0.3, y: height * 0.8 };
      await bars.hover({ position });
      const said = await page.locator("body > [aria-hidden=true]").filter({ hasText: "before" }).innerText();
      const [now, before] = ["now", "before"].map((side) => numberIn(new RegExp(`${side}\\s+(\\S+)`).exec(said)[1]));
      await bars.click({ position });
      await menu(page, "Filter to this").click();
      await page.waitForURL(/filter=/);
      const within = keys(page).getAll("filter").join(" AND ");
      const counted = async (time) =>
        (await ask(url, `SELECT count(*) FROM requests WHERE ${time} AND ${within}`))[0][0];
      assert.ok(now > 0 && before > 0, said);
      assert.equal(now, await counted(IN_STILL));
      assert.equal(before, await counted(weekBefore(FROM, TO)));
    },
  ],
  [
    "copies the query that is shown",
    async ({ page, url }) => {
      const copied = async (language) => {
        await page.getByRole("button", { name: "Share and copy" }).click();
        await menu(page, "Show as SQL, JSON, curl, Python…").click();
        const dialog = page.getByRole("dialog");
        await dialog.getByText(language, { exact: true }).click();
        await dialog.getByTestId("spelling").waitFor();
        await dialog.getByRole("button", { name: "Copy", exact: true }).click();
        await dialog.getByRole("button", { name: "Copied" }).waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "hidden" });
        return page.evaluate(() => navigator.clipboard.readText());
      };
      await open(page, `${url}/?${STILL}&view=table`);
      await page.locator("#group-input").fill("service");
      await page.getByRole("option", { name: /service/ }).first().click();
      await page.waitForURL(/by=service/);
      await settled(page);
      assert.match(await copied("SQL"), /^SELECT service, count\(\*\)/);
      assert.deepEqual(JSON.parse(await copied("JSON")).query.group_by, ["service"]);
      // The program runs as it is, and gets what the page shows.
      const { stdout } = await promisify(execFile)("python3", ["-c", await copied("Python")]);
      assert.match(stdout, /^\['service', 'count\(\*\)'\]\n\[/);
      await open(page, `${url}/?${STILL}&view=distribution&of=latency_us`);
      assert.match(await copied("SQL"), /histogram\(latency_us/);
    },
  ],
];
