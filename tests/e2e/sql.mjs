// The SQL view: a text that is asked as it is, its mistakes, and what it gets.
import { strict as assert } from "node:assert";
import { ask, keys, menu, open, picture, settled, STILL, view } from "./steps.mjs";

const editor = (page) => page.getByRole("textbox", { name: "SQL", exact: true });
const at = (url, sql) => `${url}/?${STILL}&view=sql&sql=${encodeURIComponent(sql)}`;

/** Puts a text in the place of what is in the editor. */
async function write(page, text) {
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

export const tests = [
  ["the SQL view begins with the page's query, and asks its own text", async ({ page, url }) => {
    await open(page, `${url}/?${STILL}&view=table&by=service`);
    await view(page, "SQL").click();
    await page.waitForURL(/view=sql/);
    await settled(page);
    assert.match(await editor(page).innerText(), /^SELECT service, count\(\*\)\nFROM "?requests"?\nWHERE /);
    await write(page, "SELECT datacenter, count(*) AS n FROM requests WHERE kind = 'server' GROUP BY 1 ORDER BY 2 DESC");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL(/sql=SELECT/);
    await settled(page);
    assert.equal(keys(page).get("sql"), "SELECT datacenter, count(*) AS n FROM requests WHERE kind = 'server' GROUP BY 1 ORDER BY 2 DESC");
    // Few groups are bars; the table is one click away, and the address says so.
    await page.getByRole("list", { name: "n" }).waitFor();
    await picture(page, "sql-bars");
    await page.getByRole("radiogroup", { name: "Drawn as" }).getByText("Table").click();
    await page.waitForURL(/draw=table/);
    const [[first]] = await ask(url, "SELECT datacenter, count(*) FROM requests WHERE kind = 'server' GROUP BY 1 ORDER BY 2 DESC LIMIT 1");
    assert.equal(await page.locator("table.samples tbody td").first().innerText(), first);
    await page.goBack();
    await page.getByRole("list", { name: "n" }).waitFor();
  }],
  ["SQL by time is drawn as lines, and a row of numbers large", async ({ page, url }) => {
    await open(page, at(url, "SELECT time_bucket('1 hour', time) AS h, datacenter, count(*) FROM requests WHERE time > now() - INTERVAL '1 day' GROUP BY 1, 2"));
    await page.getByRole("img", { name: /over time: \d+ lines/ }).waitFor();
    await picture(page, "sql-lines");
    await open(page, at(url, "SELECT count(*) AS events, max(latency_us) AS slowest FROM requests"));
    await page.getByText("slowest").last().waitFor();
    assert.equal(await page.locator("table.samples").count(), 0);
    await open(page, at(url, "DESCRIBE requests"));
    await page.locator("table.samples").getByText("latency_us").first().waitFor();
  }],
  ["a cell of a result opens the menu of its column, or can be copied", async ({ page, url }) => {
    await open(page, at(url, "SELECT service AS s, upper(kind) AS k, count(*) AS n FROM requests WHERE service = 'cart' GROUP BY 1, 2"));
    const cell = (text) => page.locator("table.samples tbody td").filter({ hasText: text }).first().getByRole("button");
    await cell("SERVER").click();
    await menu(page, "Copy").waitFor();
    assert.equal(await menu(page, "Filter to this").count(), 0);
    await picture(page, "sql-cell-copy");
    await menu(page, "Copy").click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "SERVER");
    await cell("cart").click();
    await picture(page, "sql-cell");
    await menu(page, "Filter to this").click();
    await page.waitForURL(/view=samples/);
    await settled(page);
    assert.equal(keys(page).get("filter"), "service = cart");
    await page.goBack();
    await cell("cart").waitFor();
  }],
  ["a mistake in SQL is underlined where it is", async ({ page, url, wrong }) => {
    await page.goto(at(url, "SELECT service, latency FROM requests"));
    await page.getByRole("alert").getByText("no column latency").waitFor();
    assert.equal(await page.locator(".cm-lintRange-error").innerText(), "latency");
    await picture(page, "sql-mistake");
    wrong.splice(0); // The browser notes the refusal that this test is about.
  }],
  ["SQL completes columns, functions and tables", async ({ page, url }) => {
    await open(page, at(url, "SELECT count(*) FROM requests"));
    await write(page, "SELECT datac");
    const options = page.getByRole("listbox");
    await options.getByText("datacenter").waitFor();
    await picture(page, "sql-completion");
    await options.getByText("datacenter").click();
    await page.keyboard.type(", approx_c");
    await options.getByText("approx_count_distinct").first().click();
    await page.keyboard.type("host) from proc");
    await options.getByText("processes").click();
    assert.match((await editor(page).innerText()).trim(), /^SELECT datacenter, approx_count_distinct\(host\) from processes$/);
  }],
];
