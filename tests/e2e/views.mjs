// The views beside the five first ones: each is drawn from the demo, compared, and narrowed by the
// menu of a mark. Numbers are compared with the same query without the page.
import { strict as assert } from "node:assert";
import { ask, corner, IN_STILL, keys, menu, open, picture, rowsBehind, settled, STILL, view } from "./steps.mjs";

const at = (url, kind, more = "") => `${url}/?${STILL}&view=${kind}${more}`;
const button = (page, name) => page.getByTestId("view").getByRole("button", { name });

/** The largest group of a column, and how many events it has. */
const largest = async (url, column) =>
  (await ask(url, `SELECT ${column}, count(*) FROM requests WHERE ${IN_STILL} AND ${column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1`))[0];

/** Chooses "Filter to this" of the open menu; the corner then tells as many rows as the condition has. */
async function onlyIs(page, url, condition) {
  await menu(page, "Filter to this").click();
  await page.waitForURL(/(filter|where)=/);
  const [[rows]] = await ask(url, `SELECT raw_count(*) FROM requests WHERE ${IN_STILL} AND ${condition}`);
  assert.ok(rows > 0);
  await page.goto(page.url().replace(/view=\w+/, "view=samples"));
  assert.equal(await rowsBehind(page), rows);
}

/** Opens the menu at a place of the chart, from 0 to 1 of its ground. */
async function dragOn(page, from, to) {
  const box = await page.getByTestId("view").getByRole("slider").boundingBox();
  const place = ([x, y]) => [box.x + box.width * x, box.y + box.height * y];
  await page.mouse.move(...place(from));
  await page.mouse.down();
  await page.mouse.move(...place(to), { steps: 4 });
  await page.mouse.up();
  await menu(page, "Filter to this").waitFor();
}

export const tests = [
  ["the row of views fits every width, and each keeps its name", async ({ page, url }) => {
    for (const query of ["view=sql", "view=distribution&of=latency_us", "view=time&by=service"]) {
      await open(page, `${url}/?${STILL}&${query}`);
      for (const width of [360, 480, 620, 768, 1024, 1280, 1366, 1400, 1440, 1500, 3840]) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForFunction(() => {
          const views = document.querySelector(".views");
          const row = views.querySelector("[role=radiogroup]").parentElement;
          return row.getBoundingClientRect().right <= views.getBoundingClientRect().right;
        });
        await page.getByRole("radio", { name: "SQL", exact: true }).waitFor({ state: "attached" });
      }
    }
    await page.setViewportSize({ width: 1400, height: 900 });
    await picture(page, "view-row-1400");
    await page.setViewportSize({ width: 1100, height: 900 });
    await picture(page, "view-row-1100");
  }],
  ["the views that fit stand in a row, and the menu says what the others need", async ({ page, url }) => {
    await open(page, `${url}/?${STILL}`);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: /^Sankey/ }).click();
    await page.waitForURL(/view=sankey/);
    await page.getByTestId("misfit").getByText("needs two columns").waitFor();
    await page.getByTestId("misfit").getByRole("button", { name: /^Group by .* and / }).click();
    await settled(page);
    assert.equal(keys(page).getAll("by").length, 2);
    // Two groups suggest a pivot, which therefore is in the row.
    await view(page, "Pivot").click();
    await page.waitForURL(/view=pivot/);
    await settled(page);
    // Digits are typed into nothing: the choice of views has the focus.
    await page.locator("#answer").focus();
    await page.keyboard.press("3");
    await page.waitForURL(/view=table/);
  }],
  ["stacked areas are amounts or shares", async ({ page, url }) => {
    await open(page, at(url, "area", "&by=service&compare=7d"));
    await page.getByText("Shares", { exact: true }).last().click();
    await page.waitForURL(/stack=share/);
    await settled(page);
    await page.getByTestId("view").getByRole("slider").press("End");
    await page.keyboard.press("Enter");
    await menu(page, "Samples").waitFor();
    await picture(page, "view-area");
    await page.goto(at(url, "area", "&by=service&show=p95(latency_us)"));
    await page.getByRole("button", { name: "Show events" }).click();
    await settled(page);
  }],
  ["bars are groups, with what they were before", async ({ page, url }) => {
    const [service] = await largest(url, "service");
    await open(page, at(url, "bar", "&by=service&compare=7d"));
    await picture(page, "view-bar");
    // What did not change has no sign.
    await button(page, new RegExp(`^${service}: .* events, [+−]?[\\d.]+ %$`)).click();
    await onlyIs(page, url, `service = '${service}'`);
  }],
  ["shares have a slice for each group", async ({ page, url }) => {
    const [service, events] = await largest(url, "service");
    const [[all]] = await ask(url, `SELECT count(*) FROM requests WHERE ${IN_STILL}`);
    await open(page, at(url, "pie", "&by=service"));
    await picture(page, "view-pie");
    const share = `${((events / all) * 100).toFixed(1)} %`;
    await button(page, new RegExp(`^${service}: .*, ${share}$`)).click();
    await onlyIs(page, url, `service = '${service}'`);
  }],
  ["big numbers are of all rows", async ({ page, url }) => {
    const [[events]] = await ask(url, `SELECT count(*) FROM requests WHERE ${IN_STILL}`);
    await open(page, at(url, "number", "&compare=7d"));
    await picture(page, "view-number");
    await page.getByTitle(events.toLocaleString("en-US"), { exact: true }).click();
    await menu(page, "Samples").click();
    await page.waitForURL(/view=samples/);
  }],
  ["a box on the heat map becomes filters", async ({ page, url }) => {
    await open(page, at(url, "heat", "&of=latency_us"));
    await picture(page, "view-heat");
    await dragOn(page, [0.3, 0.3], [0.6, 0.6]);
    await menu(page, "Filter to this").click();
    await page.waitForURL(/filter=/);
    assert.deepEqual(keys(page).getAll("filter").map((it) => it.split(" ").slice(0, 2).join(" ")), ["latency_us >=", "latency_us <"]);
    await settled(page);
    await page.goto(at(url, "heat", "&of=latency_us&compare=7d"));
    await page.getByText("Blue cells have more events").waitFor();
  }],
  ["a frame of the flame graph narrows to the stacks that begin so", async ({ page, url }) => {
    const [[frame]] = await ask(url, `SELECT prefixes(stack) AS p, count(*) FROM requests WHERE ${IN_STILL} GROUP BY 1 HAVING cardinality(p) = 1 ORDER BY 2 DESC LIMIT 1`);
    await open(page, at(url, "flame", "&compare=7d"));
    await picture(page, "view-flame");
    await button(page, new RegExp(`^${frame[0]}: `)).first().click();
    await onlyIs(page, url, `includes_start(stack, '${frame[0]}')`);
  }],
  ["tiles of the treemap lie within tiles", async ({ page, url }) => {
    const [app] = await largest(url, "app");
    await open(page, at(url, "treemap", "&by=app&by=service"));
    await picture(page, "view-treemap");
    await button(page, new RegExp(`^${app}( · |: )`)).first().press("Enter");
    await onlyIs(page, url, `app = '${app}'`);
  }],
  ["a cell of the pivot is both of its groups", async ({ page, url }) => {
    const [service] = await largest(url, "service");
    await open(page, at(url, "pivot", "&by=service&by=status"));
    await picture(page, "view-pivot");
    await button(page, new RegExp(`^${service} · 200: `)).click();
    await onlyIs(page, url, `service = '${service}' AND status = 200`);
  }],
  ["a node of the sankey is one value of its stage", async ({ page, url }) => {
    const [center] = await largest(url, "datacenter");
    await open(page, at(url, "sankey", "&by=app&by=service&by=datacenter"));
    await picture(page, "view-sankey");
    await button(page, new RegExp(`^datacenter: ${center}: `)).press("Enter");
    await onlyIs(page, url, `datacenter = '${center}'`);
  }],
  ["a country of the map is its rows", async ({ page, url }) => {
    await open(page, at(url, "map", "&compare=7d"));
    await picture(page, "view-map");
    await button(page, /^Germany \(DE\): /).press("Enter");
    await onlyIs(page, url, "country = 'DE'");
  }],
  ["a box on the scatter plot becomes filters on both columns", async ({ page, url }) => {
    await open(page, at(url, "scatter", "&x=bytes&y=latency_us"));
    await picture(page, "view-scatter");
    await page.getByText("2,000 stored rows, chosen at random").waitFor();
    await dragOn(page, [0.3, 0.3], [0.6, 0.6]);
    await menu(page, "Filter to this").click();
    await page.waitForURL(/filter=/);
    const columns = keys(page).getAll("filter").map((it) => it.split(" ")[0]);
    assert.deepEqual(columns, ["bytes", "bytes", "latency_us", "latency_us"]);
  }],
  ["the live tail follows the newest rows until it is paused", async ({ page, url }) => {
    await open(page, `${url}/?table=requests&from=-1h&view=tail`);
    const newest = () => page.locator("table.samples tbody tr td.cell").first().innerText();
    const before = await newest();
    await page.waitForFunction((text) => document.querySelector("table.samples tbody td.cell")?.innerText !== text, before);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await corner(page).waitFor();
    await picture(page, "view-tail");
  }],
  ["why shows what filtered rows have and the rest has not", async ({ page, url }) => {
    await page.goto(at(url, "why"));
    await page.getByRole("button", { name: "Compare with previous period" }).waitFor();
    await page.goto(at(url, "why", `&filter=${encodeURIComponent("service = checkout")}`));
    const row = button(page, /^endpoint is .* of filtered rows, /).first();
    await row.waitFor();
    await picture(page, "view-why");
    const [, endpoint, share] = /^endpoint is (.*?)(?: and .*)?: (.*) of filtered rows, /.exec(await row.getAttribute("aria-label"));
    const [[all, some]] = await ask(
      url,
      `SELECT count(*), count(*) FILTER (WHERE endpoint = '${endpoint}') FROM requests WHERE ${IN_STILL} AND service = 'checkout'`,
    );
    assert.equal(share, `${((some / all) * 100).toFixed(1)} %`);
    // Pairs that are about the same rows are one line.
    await page.getByText(/^also: .*battery_pct is null/).first().waitFor();
    await row.click();
    await menu(page, "Filter to this").click();
    await page.waitForURL(/where=/);
  }],
  ["a time that is dragged over zooms, or asks why", async ({ page, url }) => {
    await open(page, at(url, "time", `&filter=${encodeURIComponent("kind = server")}`));
    const chart = page.getByTestId("view").getByRole("slider");
    const drag = async () => {
      const box = await chart.boundingBox();
      await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.6, box.y + 120, { steps: 4 });
      await page.mouse.up();
      await menu(page, "Zoom to this time").waitFor();
    };
    await drag();
    await picture(page, "brush-menu");
    // Selected first, committed second: Esc drops it.
    await page.keyboard.press("Escape");
    await menu(page, "Zoom to this time").waitFor({ state: "hidden" });
    assert.equal(keys(page).get("view"), "time");
    await drag();
    const before = keys(page).get("from");
    await page.keyboard.press("Enter");
    await page.waitForURL((to) => to.searchParams.get("from") !== before);
    await page.goBack();
    await settled(page);
    await drag();
    await menu(page, "Why?").click();
    await page.waitForURL(/view=why/);
    await settled(page);
    const selected = keys(page).get("select");
    assert.match(selected, /^"?time"? >= '.*' AND "?time"? < '.*'$/);
    const [[rows]] = await ask(url, `SELECT raw_count(*) FROM requests WHERE ${IN_STILL} AND kind = 'server' AND ${selected}`);
    assert.equal(await rowsBehind(page), rows);
    await picture(page, "why-selection");
    await page.getByRole("button", { name: "Filter to the selection" }).click();
    await page.waitForURL(/where=/);
    assert.equal(keys(page).get("select"), null);
  }],
  ["a box asks why, and is put beside the rest", async ({ page, url }) => {
    await open(page, at(url, "scatter", "&x=bytes&y=latency_us"));
    await dragOn(page, [0.3, 0.3], [0.6, 0.6]);
    await menu(page, "Why?").click();
    await page.waitForURL(/view=why/);
    assert.match(keys(page).get("select"), /^bytes >= .* AND bytes <= .* AND latency_us >= .* AND latency_us <= .*$/);
    await settled(page);
    await page.goBack();
    await settled(page);
    await dragOn(page, [0.3, 0.3], [0.6, 0.6]);
    await menu(page, "Compare with the rest").click();
    await page.waitForURL(/by=/);
    await settled(page);
    const cells = await page.locator("main table").first().innerText();
    assert.match(cells, /true/);
    assert.match(cells, /false/);
    // Without the rows of one dot, only these are missing.
    await open(page, at(url, "scatter", "&x=bytes&y=latency_us&filter=bytes+%3E+0&filter=latency_us+%3E+0"));
    const chart = page.getByTestId("view").getByRole("slider");
    const before = await rowsBehind(page);
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await menu(page, "Exclude").click();
    await page.waitForURL(/where=/);
    const after = await rowsBehind(page);
    assert.ok(after < before && after > before * 0.99, `${before} and ${after} rows`);
  }],
  ["a scatter of rows with several groups offers another colour", async ({ page, url }) => {
    await page.goto(at(url, "scatter", `&x=bytes&y=latency_us&by=${encodeURIComponent("unnest(tags)")}`));
    await page.getByTestId("misfit").getByText("gives a row several colours").waitFor();
    await page.getByRole("button", { name: "Without groups" }).click();
    await settled(page);
    assert.equal(keys(page).get("by"), null);
  }],
  ["a pivot says what of it is not shown", async ({ page, url }) => {
    await open(page, at(url, "pivot", "&by=service&by=country&limit=20"));
    await page.getByText(/lines and \d+ columns not shown/).waitFor();
  }],
];
